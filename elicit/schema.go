package elicit

// The names of the form's fields.
const (
	fieldConfirm = "confirm"
	fieldCode    = "confirm_code"
)

// Schema returns the form under the message: the required boolean confirm and,
// with a code, the required string confirm_code. It uses only what every version
// of the protocol knows and every client renders: no default, which a client
// would fill in; no list, no choice, no format. Each call returns a new map.
func Schema(code bool) map[string]any {
	required := []string{fieldConfirm}
	properties := map[string]any{
		fieldConfirm: map[string]any{
			"type":  "boolean",
			"title": "Approve this, once",
			"description": "Yes: exactly what the message shows is done now, and it can cost money. " +
				"No: nothing is sent.",
		},
	}
	if code {
		required = append(required, fieldCode)
		properties[fieldCode] = map[string]any{
			"type":        "string",
			"title":       "Code from the message",
			"description": "The six characters that stand near the end of the message. They show that it was read.",
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}
