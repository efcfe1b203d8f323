package fabricsim

// describe adds to an access point what the API knows about the asset there: its
// name, its kind, and the metro where the request named none.
func (s *Sim) describe(ap doc, key, kind, id string) {
	a := s.find(kind, id)
	if a == nil {
		return
	}
	ref, _ := ap[key].(doc)
	for _, field := range []string{"name", "type", "scope"} {
		if v, ok := a.doc[field]; ok && (kind != KindPort && kind != KindCloudRouter || field == "name") {
			ref[field] = v
		}
	}
	if kind == KindNetwork {
		ref["location"] = nil // null, as the API has it, though the schema forbids it
	}
	if code := text(a.doc, "/location/metroCode"); code != "" && !has(ap, "/location/metroCode") {
		ap["location"] = doc{"metroHref": metroHref(code), "metroCode": code, "metroName": metros[code].name}
	}
}

// references are the parts of an access point that get an href.
var references = map[string]string{
	"port": KindPort, "router": KindCloudRouter, "network": KindNetwork, "profile": KindServiceProfile,
}

// echo is a side as a dry run gives it back: what was sent, plus hrefs.
func (s *Sim) echo(side doc) doc {
	d := cloneDoc(side)
	if token := object(d, "serviceToken"); token != nil {
		token["href"] = href(KindServiceToken, text(token, "uuid"))
	}
	ap := object(d, "accessPoint")
	for key, kind := range references {
		ref := object(ap, key)
		if ref == nil {
			continue
		}
		ref["href"] = href(kind, text(ref, "uuid"))
		if a := s.find(kind, text(ref, "uuid")); a != nil && kind == KindServiceProfile {
			ref["type"] = a.doc["type"]
		}
	}
	if code := text(ap, "/location/metroCode"); code != "" {
		set(ap, "/location/metroHref", metroHref(code))
	}
	return d
}

// resolved is a side as it is stored: the echo, with a token replaced by what it
// stands for and every asset described.
func (s *Sim) resolved(side doc) doc {
	d := s.echo(side)
	if token := s.find(KindServiceToken, text(d, "/serviceToken/uuid")); token != nil {
		set(d, "/serviceToken/type", token.doc["type"])
		if p := token.doc["project"]; p != nil {
			set(d, "/serviceToken/project", clone(p))
		}
		if _, selector := issued(token.doc); selector != nil {
			d["accessPoint"] = cloneDoc(selector)
		}
	}
	ap := object(d, "accessPoint")
	for key, kind := range references {
		if ref := object(ap, key); ref != nil {
			s.describe(ap, key, kind, text(ref, "uuid"))
		}
	}
	return d
}

// issued says which side a token was issued for, and its access point.
func issued(token doc) (side string, accessPoint doc) {
	for _, side := range []string{"aSide", "zSide"} {
		if l := list(token, "/connection/"+side+"/accessPointSelectors"); len(l) > 0 {
			ap, _ := l[0].(doc)
			return side, ap
		}
	}
	return "", nil
}
