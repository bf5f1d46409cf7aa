package plan

// preview shows what a deploy would do.
func preview() Operation {
	return Operation{
		Name: "plan", Plan: Deploy,
		Requestable: true, NeedsFiles: true, Preview: true,
		Options: []Option{OptionOnly, OptionMaxDeletions},
		Effect:  "it is planned",
	}
}
