package fabric

import (
	"regexp"
	"slices"
	"strings"
)

// The parts that several change types have.

const (
	plainName  = 23 // the live API has refused longer ones, its documents and examples have not
	maxName    = 31
	minRouter  = 3 // EQ-3040022: minimum 3 and up to 24
	maxRouter  = 24
	maxEmails  = 10
	emailBytes = 254
)

// nameOf checks the asset's own name. It is never rewritten.
func (c *compilation) nameOf(o *specObject) string {
	name, path := o.str("name"), o.at("name")
	if name == "" || !c.nameCharacters(path, name) {
		return ""
	}
	switch n := len(name); {
	case c.change == forRouter && (n < minRouter || n > maxRouter):
		c.refuse(path, "%d characters; a cloud router's name has %d to %d", n, minRouter, maxRouter)
	case n > maxName:
		c.refuse(path, "%d characters; at most %d, and only up to %d are safe", n, maxName, plainName)
	case n > plainName && c.change != forRouter:
		c.warn(path, "%d characters; Fabric has refused names of more than %d, the dry run decides", n, plainName)
	}
	return name
}

func (c *compilation) nameCharacters(path, name string) bool {
	if name != strings.Trim(name, " ") {
		c.refuse(path, "starts or ends with a space")
		return false
	}
	spaced := false
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
		case r == ' ':
			spaced = true
		default:
			shown := codePoint(r)
			if r < 0x7f {
				shown = "'" + string(r) + "'"
			}
			c.refuse(path, "has the character %s; letters, digits, _ and - are allowed", shown)
			return false
		}
	}
	if spaced {
		c.warn(path, "has a space; not every part of Fabric accepts one, the dry run decides")
	}
	return true
}

var emailForm = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@" +
	`[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)+$`)

// notifications is one entry that asks for everything.
func (c *compilation) notifications(o *specObject) []any {
	path := o.at("notification_emails")
	given := o.strs("notification_emails")
	if len(given) > maxEmails {
		c.refuse(path, "%d addresses; at most %d", len(given), maxEmails)
	}
	var emails []any
	for i, e := range given {
		at := indexPath(path, i)
		same := func(s string) bool { return strings.EqualFold(s, e) }
		switch {
		case len(e) > emailBytes || !emailForm.MatchString(e):
			c.refuse(at, "%s is not an e-mail address", echo(e))
		case slices.ContainsFunc(given[:i], same):
			c.warn(at, "%s is there already and is sent once", echo(e))
		default:
			emails = append(emails, e)
		}
	}
	if len(emails) == 0 {
		return nil
	}
	return []any{wire{"type": "ALL", "emails": emails}}
}

// order exists only where something is ordered on special terms.
func (c *compilation) order(o *specObject) wire {
	term := o.num("term_length_months")
	if o.given["term_length_months"] && o.values["term_length_months"] != nil && !slices.Contains([]int64{1, 12, 24, 36}, term) {
		c.refuse(o.at("term_length_months"), "%d months are not sold; want 1, 12, 24 or 36", term)
	}
	w := wire{}
	w.put("purchaseOrderNumber", o.str("purchase_order_number"))
	w.put("customerReferenceNumber", o.str("customer_reference"))
	w.put("termLength", term)
	return w
}

// project ids are opaque: uuids, old numbers, words.
func project(o *specObject) wire {
	w := wire{}
	w.put("projectId", o.str("project_id"))
	return w
}

var (
	metroForm  = regexp.MustCompile(`^[A-Za-z]{2}$`)
	ibxForm    = regexp.MustCompile(`^[A-Za-z]{2}[0-9]{1,2}[A-Za-z]?$`)
	regionForm = regexp.MustCompile(`^[A-Za-z]+(-[A-Za-z]+)*-?[0-9]+[a-z]?$`)
)

// metro returns the metro code of o in the API's upper case.
func (c *compilation) metro(o *specObject) string {
	path, code := o.at("metro_code"), o.str("metro_code")
	switch {
	case code == "" || metroForm.MatchString(code):
		return strings.ToUpper(code)
	case ibxForm.MatchString(code):
		c.refuse(path, "%s is an IBX, a building; want its metro, %s", strings.ToUpper(code), strings.ToUpper(code[:2]))
	case regionForm.MatchString(code) && strings.Contains(code, "-"):
		where := "a provider's region belongs in seller_region"
		if c.change == forRouter {
			where = "that is a provider's region"
		}
		c.refuse(path, "want the two letters of a metro, got %s; %s", echo(code), where)
	default:
		c.refuse(path, "want the two letters of a metro such as DC, got %s; fabric_list_metros lists them", echo(code))
	}
	return ""
}

// location is where a metro code goes.
func location(metro string) wire {
	w := wire{}
	w.put("metroCode", metro)
	return w
}
