package organizations

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// hasParent checks that a unit, or the root, exists.
func (s *Service) hasParent(id string, missing error) error {
	_, unit := s.units[id]
	switch {
	case !parentForm.MatchString(id):
		return errInvalid
	case !unit && id != Root:
		return missing
	}
	return nil
}

func (s *Service) createUnit(in input) (any, error) {
	if err := s.hasParent(in.ParentId, errParentNotFound); err != nil {
		return nil, err
	}
	if in.Name == "" {
		return nil, errInvalid
	}
	for _, u := range s.units { // https://docs.aws.amazon.com/organizations/latest/APIReference/API_CreateOrganizationalUnit.html
		if u.Parent == in.ParentId && u.Name == in.Name {
			return nil, fault{"DuplicateOrganizationalUnitException", "An OU with the same name already exists."}
		}
	}
	u := Unit{fmt.Sprintf("ou-%s-%08d", strings.TrimPrefix(Root, "r-"), s.last+1), in.Name, in.ParentId}
	return object{"OrganizationalUnit": object{"Id": u.ID, "Name": u.Name}}, s.keep(record{Unit: &u, Last: s.last + 1})
}

func (s *Service) deleteUnit(in input) (any, error) {
	if _, known := s.units[in.OrganizationalUnitId]; !known {
		return nil, errUnitNotFound
	}
	for _, u := range s.units {
		if u.Parent == in.OrganizationalUnitId {
			return nil, errUnitNotEmpty
		}
	}
	if len(s.in(in.OrganizationalUnitId)) > 0 {
		return nil, errUnitNotEmpty
	}
	return object{}, s.keep(record{Gone: in.OrganizationalUnitId})
}

func (s *Service) listUnits(in input) (any, error) {
	if err := s.hasParent(in.ParentId, errParentNotFound); err != nil {
		return nil, err
	}
	var all []object
	for _, id := range slices.Sorted(maps.Keys(s.units)) {
		if u := s.units[id]; u.Parent == in.ParentId && !s.flat {
			all = append(all, object{"Id": u.ID, "Name": u.Name})
		}
	}
	return page(in, "OrganizationalUnits", all)
}
