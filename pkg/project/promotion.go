package project

// A Promotion is the place of an environment in the order in which revisions of its project are promoted.
type Promotion struct {
	From   string           `json:"from,omitempty"`   // the environment before it; "" for the first one
	To     string           `json:"to,omitempty"`     // the environment after it; "" for the last one
	Soak   Timeout          `json:"soak,omitempty"`   // how long a deploy of it has to last before it is promoted to the next one
	Alarms []PromotionAlarm `json:"alarms,omitempty"` // that have to be OK then
}

// A PromotionAlarm is an alarm of CloudWatch that stops a promotion unless it is OK.
type PromotionAlarm struct {
	Name   string `json:"name"`
	Target Target `json:"target"`
}

// MaxPromotions is how many environments an order has at most, and MaxPromotionAlarms how many alarms each of them.
const (
	MaxPromotions      = 20
	MaxPromotionAlarms = 20
)
