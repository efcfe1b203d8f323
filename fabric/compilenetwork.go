package fabric

// network composes a network_create.
func (c *compilation) network(o *specObject) wire {
	w := wire{}
	w.put("type", o.str("type"))
	w.put("name", c.nameOf(o))
	w.put("scope", o.str("scope"))
	switch scope, region := o.str("scope"), o.given["region"]; {
	case scope == "REGIONAL" && !region && !c.priceOnly:
		c.refuse(o.at("region"), "required with scope REGIONAL: one of AMER, APAC, EMEA")
	case scope != "" && scope != "REGIONAL" && region:
		c.refuse(o.at("region"), "goes with scope REGIONAL only, and the scope is %s", scope)
	}
	place := wire{}
	place.put("region", o.str("region"))
	w.put("location", place)
	w.put("project", project(o))
	w.put("notifications", c.notifications(o))
	return w
}

// router composes a cloud_router_create.
func (c *compilation) router(o *specObject) wire {
	w := wire{"type": "XF_ROUTER"}
	w.put("name", c.nameOf(o))
	w.put("location", location(c.metro(o)))
	pkg, account := wire{}, wire{}
	pkg.put("code", o.str("package"))
	w.put("package", pkg)
	account.put("accountNumber", o.num("account_number"))
	w.put("account", account)
	w.put("order", c.order(o))
	w.put("project", project(o))
	w.put("notifications", c.notifications(o))
	return w
}
