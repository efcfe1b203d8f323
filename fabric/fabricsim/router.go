package fabricsim

const maxLabRouters = 3

func (s *Sim) checkRouter(_ *call, body doc) issues {
	var wrong issues
	if text(body, "/type") != "XF_ROUTER" {
		wrong.invalid("/type", "type is XF_ROUTER")
	}
	if n := len([]rune(text(body, "/name"))); n < 3 || n > 24 {
		const rule = "Name is minimum 3 and up to 24 characters in length"
		wrong.add(apiError{Code: "EQ-3040022", Message: rule, Details: rule, Info: []errorInfo{{Property: "/name", Reason: rule}}})
	}
	checkNotifications(&wrong, body)
	if _, ok := metros[text(body, "/location/metroCode")]; !ok {
		wrong.invalid("/location/metroCode", "unknown metro")
	}
	code := text(body, "/package/code")
	if _, ok := packageByCode(code); !ok {
		wrong.add(packageNotFound())
	}
	if !s.goodAccount(at(body, "/account/accountNumber")) && !has(body, "/marketplaceSubscription/uuid") {
		wrong.add(apiError{
			Code: "EQ-3040032", Message: "Invalid account number", Details: "Invalid account number",
			Info: []errorInfo{{Property: "/account/accountNumber", Reason: "Invalid project account number"}},
		})
	}
	s.checkRouterOrder(&wrong, body)
	if code == "LAB" && s.labRouters() >= maxLabRouters {
		e := plain("EQ-3040060", "Create request rejected")
		e.Details = "Only 3 Lab Fabric Cloud Routers allowed per Organization"
		wrong.add(e)
	}
	return wrong
}

// checkRouterOrder: an order that is there but empty is refused for a purchase
// order number that nobody sent.
func (s *Sim) checkRouterOrder(wrong *issues, body doc) {
	o, ok := at(body, "/order").(doc)
	if !ok {
		return
	}
	po, given := o["purchaseOrderNumber"]
	if len(o) == 0 || given && str(po) == "" {
		wrong.add(apiError{
			Code: "EQ-3142501", Message: "Invalid input",
			Info: []errorInfo{{Property: "/order/purchaseOrderNumber", Reason: "Invalid purchase order number"}},
		})
	}
	checkTerm(wrong, body)
}

func (s *Sim) labRouters() int {
	n := 0
	for _, a := range s.assets {
		if a.kind == KindCloudRouter && text(a.doc, "/package/code") == "LAB" && !gone(text(a.doc, "/state")) {
			n++
		}
	}
	return n
}

// echoRouter: no order comes back from a dry run.
func (s *Sim) echoRouter(_ *call, body doc) doc {
	d := only(body, "type", "name", "location", "package", "project", "account", "notifications", "marketplaceSubscription")
	set(d, "/location/metroHref", metroHref(text(d, "/location/metroCode")))
	set(d, "/package/href", base+"/fabric/v4/routerPackages/"+text(d, "/package/code"))
	return d
}

func (s *Sim) makeRouter(c *call, body doc) *asset {
	d := s.echoRouter(c, body)
	if o := at(body, "/order"); o != nil {
		d["order"] = clone(o)
	}
	code := text(d, "/location/metroCode")
	set(d, "/location/metroName", metros[code].name)
	set(d, "/location/region", metros[code].region)
	d["state"], d["equinixAsn"] = "PROVISIONING", 30000
	a := s.newAsset(c, KindCloudRouter, d)
	set(d, "/changeLog/createdByFullName", "Sim User")
	set(d, "/changeLog/createdByEmail", "sim-user@example.net")
	a.rest = doc{"/state": "PROVISIONED"}
	return a
}
