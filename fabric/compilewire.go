package fabric

import "encoding/json"

// sentBody is a compiled body as the brief and the price read it. It has what
// decides, not all that is sent.
type sentBody struct {
	Type      string   `json:"type"`
	Name      string   `json:"name"`
	Bandwidth int64    `json:"bandwidth"`
	ASide     sentSide `json:"aSide"`
	ZSide     sentSide `json:"zSide"`
	Scope     string   `json:"scope"`
	Location  place    `json:"location"`
	Package   struct {
		Code string `json:"code"`
	} `json:"package"`
	Account struct {
		Number int64 `json:"accountNumber"`
	} `json:"account"`
	Project struct {
		ID string `json:"projectId"`
	} `json:"project"`
	Order struct {
		Term int `json:"termLength"`
	} `json:"order"`
	Expiry     string         `json:"expirationDateTime"`
	Connection sentConnection `json:"connection"`
}

type place struct {
	Metro  string `json:"metroCode"`
	Region string `json:"region"`
}

// sentConnection is what a service token allows.
type sentConnection struct {
	Type       string    `json:"type"`
	Limit      int64     `json:"bandwidthLimit"`
	Bandwidths []int64   `json:"supportedBandwidths"`
	Remote     bool      `json:"allowRemoteConnection"`
	Custom     bool      `json:"allowCustomBandwidth"`
	ASide      *sentEnds `json:"aSide"`
	ZSide      *sentEnds `json:"zSide"`
}

type sentEnds struct {
	Selectors []sentPoint `json:"accessPointSelectors"`
}

type sentSide struct {
	Token *sentAsset `json:"serviceToken"`
	Point sentPoint  `json:"accessPoint"`
}

type sentAsset struct {
	UUID string `json:"uuid"`
	Type string `json:"type"`
}

// sentPoint is an access point; at most one of its assets is there.
type sentPoint struct {
	Type          string     `json:"type"`
	Port          *sentAsset `json:"port"`
	Router        *sentAsset `json:"router"`
	VirtualDevice *sentAsset `json:"virtualDevice"`
	Network       *sentAsset `json:"network"`
	Profile       *sentAsset `json:"profile"`
	Link          *sentLink  `json:"linkProtocol"`
	Role          string     `json:"role"`
	Location      place      `json:"location"`
	SellerRegion  string     `json:"sellerRegion"`
	Key           string     `json:"authenticationKey"`
}

type sentLink struct {
	Type string `json:"type"`
	Tag  int64  `json:"vlanTag"`
	STag int64  `json:"vlanSTag"`
	CTag int64  `json:"vlanCTag"`
}

// readBody reads a body of ours. A body that is none reads as empty: what it
// says is then left out, never made up.
func readBody(body []byte) sentBody {
	var b sentBody
	if json.Unmarshal(body, &b) != nil {
		return sentBody{}
	}
	return b
}

// asset returns what the point is at, and the noun for it.
func (p sentPoint) asset() (sentAsset, string) {
	for _, x := range []struct {
		a    *sentAsset
		noun string
	}{
		{p.Port, "port"},
		{p.Router, "cloud router"},
		{p.VirtualDevice, "virtual device"},
		{p.Network, "network"},
		{p.Profile, "profile"},
	} {
		if x.a != nil {
			return *x.a, x.noun
		}
	}
	return sentAsset{}, ""
}

// selector returns the side that a service token opens, "a" or "z", and what.
func (c sentConnection) selector() (string, sentPoint) {
	switch {
	case c.ASide != nil && len(c.ASide.Selectors) > 0:
		return "a", c.ASide.Selectors[0]
	case c.ZSide != nil && len(c.ZSide.Selectors) > 0:
		return "z", c.ZSide.Selectors[0]
	}
	return "", sentPoint{}
}
