package dynamodb

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/stackwright/stackwright/infra/local/gateway"
)

// plain answers what minidyn does not; nil means that it does.
func (t *Tables) plain(op string, body []byte, r *http.Request) *gateway.Recorder {
	switch op {
	case "ListTables":
		return answer(map[string]any{"TableNames": slices.Sorted(maps.Keys(t.tables))})
	case "DescribeLimits":
		return answer(map[string]any{"AccountMaxReadCapacityUnits": 80000, "AccountMaxWriteCapacityUnits": 80000,
			"TableMaxReadCapacityUnits": 40000, "TableMaxWriteCapacityUnits": 40000})
	case "DescribeTimeToLive", "UpdateTimeToLive", "DescribeContinuousBackups", "UpdateContinuousBackups", "ListTagsOfResource":
		return t.aboutTable(op, body, r)
	}
	if operations[op] != nil {
		return nil
	}
	return refusal(r, http.StatusBadRequest, "UnknownOperationException", "nothing stands in for DynamoDB's "+op+" here")
}

func (t *Tables) aboutTable(op string, body []byte, r *http.Request) *gateway.Recorder {
	if op == "ListTagsOfResource" {
		return answer(map[string]any{"Tags": []any{}})
	}
	kept, ok := t.tables[tableName(body)]
	if !ok {
		return refusal(r, http.StatusBadRequest, "ResourceNotFoundException", "Requested resource not found: Table: "+tableName(body)+" not found")
	}
	switch op {
	case "DescribeTimeToLive":
		status := map[string]string{"TimeToLiveStatus": "DISABLED"}
		if kept.ttl != "" {
			status = map[string]string{"TimeToLiveStatus": "ENABLED", "AttributeName": kept.ttl}
		}
		return answer(map[string]any{"TimeToLiveDescription": status})
	case "UpdateTimeToLive":
		return updateTimeToLive(kept, body, r)
	default:
		return answer(map[string]any{"ContinuousBackupsDescription": map[string]any{
			"ContinuousBackupsStatus":        "ENABLED",
			"PointInTimeRecoveryDescription": map[string]string{"PointInTimeRecoveryStatus": "DISABLED"},
		}})
	}
}

// updateTimeToLive remembers the attribute. Nothing is ever deleted by it: DynamoDB promises no moment either.
func updateTimeToLive(kept *table, body []byte, r *http.Request) *gateway.Recorder {
	var in struct {
		TimeToLiveSpecification struct {
			AttributeName string
			Enabled       bool
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return refusal(r, http.StatusBadRequest, "SerializationException", err.Error())
	}
	kept.ttl = ""
	if in.TimeToLiveSpecification.Enabled {
		kept.ttl = in.TimeToLiveSpecification.AttributeName
	}
	return answer(map[string]any{"TimeToLiveSpecification": in.TimeToLiveSpecification})
}
