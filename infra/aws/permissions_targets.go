package main

// assuming are the functions that assume the roles of targets. The roles trust them, and no others.
var assuming = []string{"execute-step", "plan", "wait-status"}

// targets assumes roles in other accounts, if there are any.
func targets(s settings) []permission {
	var roles []string
	for _, account := range s.accounts {
		roles = append(roles, "arn:${Partition}:iam::"+account+":role/stackwright/"+s.stack+"-*")
	}
	var all []permission
	if roles != nil {
		all = append(all, permission{Do: []string{"sts:AssumeRole"}, On: roles, Why: "an account may have a role for each of its targets"})
	}
	return append(all, s.inOrganization("*", "the accounts of an organizational unit come and go; each has a role for each of its targets, which requires the external ID of the target")...)
}

// inOrganization assumes roles of the installation's name in all accounts of the organization, if there is the setting.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html#condition-keys-resourceorgid
func (s settings) inOrganization(named, why string) []permission {
	if s.organization == "" {
		return nil
	}
	return []permission{{
		Do: []string{"sts:AssumeRole"}, On: []string{"arn:${Partition}:iam::*:role/stackwright/" + s.stack + "-" + named},
		If: conditions{"StringEquals": {"aws:ResourceOrgID": s.organization}}, Why: why,
	}}
}

// listed are for the lists of the accounts of units, and for accounts that their unit does not have, if single ones are read. The ARNs of units and accounts have the account of the organization's management, whose ID nobody has to know.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsorganizations.html
func (s settings) listed(single bool) []permission {
	switch {
	case s.organization == "":
		return nil
	case s.lister != "":
		return []permission{{Do: []string{"sts:AssumeRole"}, On: []string{s.lister}}}
	}
	in := "arn:${Partition}:organizations::*:"
	const why = "targets stand for organizational units, whose accounts come and go"
	all := []permission{{Do: []string{"organizations:ListAccountsForParent", "organizations:ListOrganizationalUnitsForParent"}, On: []string{in + "ou/" + s.organization + "/ou-*"}, Why: why}}
	if single {
		all = append(all, permission{Do: []string{"organizations:DescribeAccount", "organizations:ListParents"}, On: []string{in + "account/" + s.organization + "/*"}, Why: why},
			permission{Do: []string{"organizations:ListParents"}, On: []string{in + "ou/" + s.organization + "/ou-*"}, Why: why})
	}
	return all
}

// readers assumes the roles in other accounts that only read stacks, if there are any.
func readers(s settings) []permission {
	var roles []string
	for _, account := range s.accounts {
		roles = append(roles, "arn:${Partition}:iam::"+account+":role/stackwright/"+s.stack+"-*reader")
	}
	const why = "each account has one, whose name begins with that of the installation; it may read resources and events of stacks"
	var all []permission
	if roles != nil {
		all = append(all, permission{Do: []string{"sts:AssumeRole"}, On: roles, Why: why})
	}
	return append(all, s.inOrganization("*reader", why)...)
}
