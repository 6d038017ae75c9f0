/* eslint-disable max-lines -- written by a test: see CONTRIBUTING.md */
import type { RecordedAnswer } from './example.js'

export const recorded: Readonly<Record<string, ReadonlyArray<RecordedAnswer>>> = {
  "POST /api/queues/{queue}/tasks": [
    {
      "path": "/api/queues/builds/tasks",
      "status": 201,
      "type": "application/json",
      "body": {
        "id": "fix-login",
        "number": 1,
        "status": "pending",
        "duplicate": false,
        "revision": 0
      }
    },
    {
      "path": "/api/queues/builds/tasks",
      "status": 200,
      "type": "application/json",
      "body": {
        "id": "fix-login",
        "number": 1,
        "status": "pending",
        "duplicate": true,
        "duplicateBy": "content",
        "revision": 0
      }
    },
    {
      "path": "/api/queues/builds/tasks",
      "status": 201,
      "type": "application/json",
      "body": {
        "results": [
          {
            "id": "build",
            "number": 1,
            "status": "pending",
            "duplicate": false
          },
          {
            "id": "test",
            "number": 2,
            "status": "blocked",
            "duplicate": false
          }
        ],
        "revision": 1
      }
    },
    {
      "path": "/api/queues/builds/tasks",
      "status": 200,
      "type": "application/json",
      "body": {
        "results": [
          {
            "id": "build",
            "number": 1,
            "status": "pending",
            "duplicate": false
          },
          {
            "type": "urn:daybook:problem:unknown-dependency",
            "title": "A dependency is unknown",
            "status": 422,
            "code": "unknown-dependency",
            "detail": "deploy depends on sign, which is not in queue builds: enqueue it first or in the same request"
          }
        ],
        "revision": 0
      }
    }
  ],
  "GET /api/queues/{queue}/tasks": [
    {
      "path": "/api/queues/builds/tasks?status=pending,scheduled&type=eng-*&priority=HIGH-CRITICAL&limit=20",
      "status": 200,
      "type": "application/json",
      "body": {
        "tasks": [
          {
            "id": "fix-login",
            "number": 1,
            "type": "eng-backend",
            "priority": 8,
            "status": "pending",
            "payload": {
              "goal": "fix the login"
            },
            "dependencies": [],
            "timeout": 3600,
            "maxRetries": 3,
            "backoffSeconds": 60,
            "idempotencyKey": "9d96a73f33a67c46514d4cef9d164bb87a8616a34cfa10dd0b6fd90744290226",
            "retries": 0,
            "attempts": 0,
            "attempt": 0,
            "attemptsMax": 3,
            "claimants": [],
            "currentClaimant": null,
            "claimedBy": null,
            "claimedAt": null,
            "createdAt": "2026-11-25T00:05:55.594Z",
            "completedAt": null,
            "lastError": null
          }
        ],
        "nextCursor": null,
        "revision": 0
      }
    }
  ],
  "GET /api/queues/{queue}/tasks/{id}": [
    {
      "path": "/api/queues/builds/tasks/fix-login",
      "status": 200,
      "type": "application/json",
      "body": {
        "id": "fix-login",
        "number": 1,
        "type": "eng-backend",
        "priority": 5,
        "status": "pending",
        "payload": {
          "goal": "fix the login"
        },
        "dependencies": [],
        "timeout": 3600,
        "maxRetries": 3,
        "backoffSeconds": 60,
        "idempotencyKey": "9d96a73f33a67c46514d4cef9d164bb87a8616a34cfa10dd0b6fd90744290226",
        "retries": 0,
        "attempts": 0,
        "attempt": 0,
        "attemptsMax": 3,
        "claimants": [],
        "currentClaimant": null,
        "claimedBy": null,
        "claimedAt": null,
        "createdAt": "2026-11-25T00:05:56.604Z",
        "completedAt": null,
        "lastError": null,
        "reasons": [
          {
            "code": "ready",
            "message": "it waits for an agent that claims eng-backend tasks",
            "change": "claim eng-backend tasks"
          }
        ]
      }
    }
  ],
  "PATCH /api/queues/{queue}/tasks/{id}": [
    {
      "path": "/api/queues/builds/tasks/fix-login",
      "status": 200,
      "type": "application/json",
      "body": {
        "id": "fix-login",
        "status": "pending",
        "changed": [
          "priority"
        ],
        "revision": 1
      }
    }
  ],
  "POST /api/queues/{queue}/tasks/{id}/cancel": [
    {
      "path": "/api/queues/builds/tasks/build/cancel",
      "status": 200,
      "type": "application/json",
      "body": {
        "cancelled": [
          "build",
          "test"
        ]
      }
    }
  ],
  "POST /api/queues/{queue}/tasks/{id}/restart": [
    {
      "path": "/api/queues/builds/tasks/fix-login/restart",
      "status": 201,
      "type": "application/json",
      "body": {
        "id": "01a21006-03f7-79df-a570-53665844416d",
        "number": 2,
        "restartOf": "fix-login",
        "status": "pending"
      }
    }
  ],
  "POST /api/queues/{queue}/tasks/{id}/erase": [
    {
      "path": "/api/queues/builds/tasks/fix-login/erase",
      "status": 200,
      "type": "application/json",
      "body": {
        "id": "fix-login",
        "erased": true,
        "revision": 4
      }
    }
  ],
  "POST /api/queues/{queue}/tasks/{id}/bump": [
    {
      "path": "/api/queues/builds/tasks/fix-login/bump",
      "status": 200,
      "type": "application/json",
      "body": {
        "id": "fix-login",
        "status": "pending",
        "agentId": null,
        "activeAgents": 0,
        "maxConcurrentAgents": 10,
        "overCapacity": false
      }
    }
  ],
  "POST /api/queues/{queue}/tasks/cancel": [
    {
      "path": "/api/queues/builds/tasks/cancel",
      "status": 200,
      "type": "application/json",
      "body": {
        "count": 1,
        "cancelled": [
          "fix-login"
        ],
        "nextCursor": null,
        "revision": 1
      }
    },
    {
      "path": "/api/queues/builds/tasks/cancel",
      "status": 200,
      "type": "application/json",
      "body": {
        "count": 1,
        "cancelled": [
          "fix-login"
        ],
        "nextCursor": null,
        "revision": 0
      }
    }
  ],
  "POST /api/queues/{queue}/imports": [
    {
      "path": "/api/queues/builds/imports",
      "status": 201,
      "type": "application/json",
      "body": {
        "results": [
          {
            "id": "old-1",
            "number": 1,
            "status": "completed",
            "duplicate": false
          },
          {
            "id": "old-2",
            "number": 2,
            "status": "pending",
            "duplicate": false
          }
        ],
        "revision": 1
      }
    }
  ],
  "GET /api/queues/{queue}/tasks/{id}/explain": [
    {
      "path": "/api/queues/builds/tasks/test/explain",
      "status": 200,
      "type": "application/json",
      "body": {
        "status": "blocked",
        "runnable": false,
        "reasons": [
          {
            "code": "blocked",
            "message": "it waits for build (pending)",
            "change": "the completion of build",
            "blockedBy": [
              {
                "id": "build",
                "status": "pending"
              }
            ]
          }
        ],
        "position": null,
        "score": 0.275004,
        "scoreParts": {
          "priority": {
            "value": 0.5,
            "weight": 0.45,
            "points": 0.225
          },
          "age": {
            "value": 0.000022,
            "weight": 0.2,
            "points": 0.000004
          },
          "deadline": {
            "value": 0,
            "weight": 0.15,
            "points": 0
          },
          "blockers": {
            "value": 0,
            "weight": 0.15,
            "points": 0
          },
          "retries": {
            "value": 1,
            "weight": 0.05,
            "points": 0.05
          },
          "boost": 1,
          "isStarved": false,
          "floor": null
        }
      }
    },
    {
      "path": "/api/queues/builds/tasks/fix-login/explain?agentId=builder-1&types=docs-*&skills=typescript",
      "status": 200,
      "type": "application/json",
      "body": {
        "status": "pending",
        "runnable": false,
        "reasons": [
          {
            "code": "type-not-claimed",
            "message": "its type is eng-backend, and the claim asks for docs-*",
            "change": "claim eng-backend tasks"
          }
        ],
        "position": null,
        "score": 0.275006,
        "scoreParts": {
          "priority": {
            "value": 0.5,
            "weight": 0.45,
            "points": 0.225
          },
          "age": {
            "value": 0.000031,
            "weight": 0.2,
            "points": 0.000006
          },
          "deadline": {
            "value": 0,
            "weight": 0.15,
            "points": 0
          },
          "blockers": {
            "value": 0,
            "weight": 0.15,
            "points": 0
          },
          "retries": {
            "value": 1,
            "weight": 0.05,
            "points": 0.05
          },
          "boost": 1,
          "isStarved": false,
          "floor": null
        }
      }
    }
  ],
  "GET /api/queues/{queue}/tasks/{id}/result": [
    {
      "path": "/api/queues/builds/tasks/fix-login/result?wait=30",
      "status": 200,
      "type": "application/json",
      "body": {
        "status": "completed",
        "result": {
          "decisionReport": "the session cookie had no expiry",
          "output": {
            "commit": "4f2a91c"
          }
        }
      }
    },
    {
      "path": "/api/queues/builds/tasks/fix-login/result",
      "status": 200,
      "type": "application/json",
      "body": {
        "status": "pending"
      }
    }
  ],
  "POST /api/bump_task_priority": [
    {
      "path": "/api/bump_task_priority",
      "status": 200,
      "type": "application/json",
      "body": {
        "task_id": "fix-login",
        "agent_id": null,
        "over_capacity": false,
        "active_agents": 0,
        "max_concurrent_agents": 10
      }
    }
  ],
  "POST /api/cancel_queued_task": [
    {
      "path": "/api/cancel_queued_task",
      "status": 200,
      "type": "application/json",
      "body": {
        "task_id": "fix-login",
        "status": "CANCELLED",
        "cancelled": [
          "fix-login"
        ]
      }
    }
  ],
  "POST /api/restart_task": [
    {
      "path": "/api/restart_task?queue=builds",
      "status": 200,
      "type": "application/json",
      "body": {
        "original_task_id": "fix-login",
        "new_task_id": "01a21006-1444-73c8-9850-0e7cf80a4903",
        "queued": true
      }
    }
  ],
  "POST /api/terminate_agent": [
    {
      "path": "/api/terminate_agent",
      "status": 202,
      "type": "application/json",
      "body": {
        "agent_id": "builder-1",
        "terminated": true,
        "reassigned_tasks": [
          "fix-login"
        ]
      }
    }
  ],
  "GET /api/queue_status": [
    {
      "path": "/api/queue_status?queue=builds",
      "status": 200,
      "type": "application/json",
      "body": {
        "active_agents": 0,
        "max_concurrent_agents": 10,
        "at_capacity": false,
        "queued_tasks": [
          "fix-login"
        ],
        "queued_depth": 1,
        "queued_by_priority": {
          "CRITICAL": 0,
          "HIGH": 0,
          "MEDIUM": 1,
          "LOW": 0
        },
        "oldest_wait_seconds": 0.03,
        "critical_backlog_seconds": 0
      }
    }
  ],
  "POST /api/queues/{queue}/callbacks/{key}": [
    {
      "path": "/api/queues/builds/callbacks/approve-fix-login",
      "status": 200,
      "type": "application/json",
      "body": {
        "task": "fix-login",
        "status": "pending"
      }
    }
  ],
  "POST /api/queues/{queue}/claims": [
    {
      "path": "/api/queues/builds/claims",
      "status": 200,
      "type": "application/json",
      "body": {
        "claims": [
          {
            "task": {
              "id": "fix-login",
              "number": 1,
              "type": "eng-backend",
              "priority": 5,
              "status": "in-progress",
              "payload": {
                "goal": "fix the login"
              },
              "dependencies": [],
              "timeout": 3600,
              "maxRetries": 3,
              "retries": 0,
              "attempts": 0,
              "attempt": 1,
              "attemptsMax": 3,
              "idempotencyKey": "9d96a73f33a67c46514d4cef9d164bb87a8616a34cfa10dd0b6fd90744290226",
              "claimedBy": "builder-1",
              "createdAt": "2026-11-25T00:06:04.393Z"
            },
            "lease": {
              "token": 1,
              "expiresAt": "2026-11-25T00:07:04.404Z",
              "seconds": 60,
              "waitedSeconds": 0
            },
            "attempt": 1
          }
        ]
      }
    },
    {
      "path": "/api/queues/builds/claims",
      "status": 200,
      "type": "application/json",
      "body": {
        "claims": []
      }
    }
  ],
  "POST /api/queues/{queue}/tasks/{id}/heartbeat": [
    {
      "path": "/api/queues/builds/tasks/fix-login/heartbeat",
      "status": 200,
      "type": "application/json",
      "body": {
        "lease": {
          "token": 1,
          "expiresAt": "2026-11-25T01:06:04.644Z"
        }
      }
    }
  ],
  "POST /api/queues/{queue}/tasks/{id}/complete": [
    {
      "path": "/api/queues/builds/tasks/fix-login/complete",
      "status": 200,
      "type": "application/json",
      "body": {
        "status": "completed",
        "spawned": [
          "13f43568-f2cd-85fd-a19d-2b4870b17414"
        ]
      }
    }
  ],
  "POST /api/queues/{queue}/tasks/{id}/fail": [
    {
      "path": "/api/queues/builds/tasks/fix-login/fail",
      "status": 200,
      "type": "application/json",
      "body": {
        "status": "scheduled",
        "availableAt": "2026-11-25T00:07:09.193Z"
      }
    },
    {
      "path": "/api/queues/builds/tasks/fix-login/fail",
      "status": 200,
      "type": "application/json",
      "body": {
        "status": "dead-letter"
      }
    },
    {
      "path": "/api/queues/builds/tasks/fix-login/fail",
      "status": 200,
      "type": "application/json",
      "body": {
        "status": "scheduled",
        "availableAt": "2026-11-25T00:08:05.623Z"
      }
    }
  ],
  "POST /api/queues/{queue}/tasks/{id}/release": [
    {
      "path": "/api/queues/builds/tasks/fix-login/release",
      "status": 200,
      "type": "application/json",
      "body": {
        "status": "pending"
      }
    }
  ],
  "POST /api/queues/{queue}/tasks/{id}/park": [
    {
      "path": "/api/queues/builds/tasks/fix-login/park",
      "status": 200,
      "type": "application/json",
      "body": {
        "status": "waiting"
      }
    }
  ],
  "POST /api/queues/{queue}/outcomes": [
    {
      "path": "/api/queues/builds/outcomes",
      "status": 200,
      "type": "application/json",
      "body": {
        "results": [
          {
            "status": "completed",
            "spawned": []
          },
          {
            "type": "urn:daybook:problem:lease-lost",
            "title": "The lease is lost",
            "status": 409,
            "code": "lease-lost",
            "detail": "token 7 was never given for it: the newest is 1: stop working on fix-login; do not report its outcome"
          }
        ]
      }
    }
  ],
  "POST /api/queues/{queue}/agents": [
    {
      "path": "/api/queues/builds/agents",
      "status": 200,
      "type": "application/json",
      "body": {
        "agentId": "builder-1",
        "registeredUntil": "2026-11-25T00:19:05.351Z"
      }
    }
  ],
  "GET /api/queues/{queue}/agents": [
    {
      "path": "/api/queues/builds/agents",
      "status": 200,
      "type": "application/json",
      "body": {
        "agents": [
          {
            "agentId": "builder-1",
            "status": "working",
            "tasks": [
              "fix-login"
            ],
            "types": [
              "eng-*"
            ],
            "maxTasks": 4,
            "leases": [
              {
                "task": "fix-login",
                "expiresAt": "2026-11-25T01:09:05.395Z"
              }
            ],
            "lastSeenAt": "2026-11-25T00:09:05.391Z",
            "registeredUntil": "2026-11-25T00:19:05.391Z"
          }
        ]
      }
    }
  ],
  "DELETE /api/queues/{queue}/agents/{agentId}": [
    {
      "path": "/api/queues/builds/agents/builder-1?reason=it%20hangs",
      "status": 200,
      "type": "application/json",
      "body": {
        "agentId": "builder-1",
        "terminated": true,
        "reassignedTasks": [
          "fix-login"
        ],
        "tasks": [
          {
            "id": "fix-login",
            "number": 1,
            "status": "pending"
          }
        ]
      }
    }
  ],
  "GET /api/queues/{queue}/memories": [
    {
      "path": "/api/queues/builds/memories?ticketId=T-1&q=login%20cookie&limit=5",
      "status": 200,
      "type": "application/json",
      "body": {
        "memories": [
          {
            "id": "builds:fix-login:1",
            "queue": "builds",
            "task": "fix-login",
            "type": "eng-backend",
            "at": "2026-11-25T00:09:05.793Z",
            "ticketId": "T-1",
            "goal": "fix the login",
            "summary": "{\"commit\":\"4f2a91c\"}",
            "discoveries": [
              {
                "details": "the cookie is never rotated",
                "type": "note"
              }
            ]
          }
        ]
      }
    }
  ],
  "GET /api/queues/{queue}/dead-letters": [
    {
      "path": "/api/queues/builds/dead-letters?type=eng-*&limit=20",
      "status": 200,
      "type": "application/json",
      "body": {
        "tasks": [
          {
            "id": "fix-login",
            "number": 1,
            "type": "eng-backend",
            "priority": 5,
            "status": "dead-letter",
            "payload": {
              "goal": "fix the login"
            },
            "dependencies": [],
            "timeout": 3600,
            "maxRetries": 3,
            "backoffSeconds": 60,
            "idempotencyKey": "9d96a73f33a67c46514d4cef9d164bb87a8616a34cfa10dd0b6fd90744290226",
            "retries": 1,
            "attempts": 1,
            "attempt": 1,
            "attemptsMax": 3,
            "claimants": [],
            "currentClaimant": null,
            "claimedBy": null,
            "claimedAt": null,
            "createdAt": "2026-11-25T00:06:06.379Z",
            "completedAt": null,
            "lastError": "connection refused",
            "signature": "f7f69076204351c41ac6bf34fa45fc8321e90355a46677802e742a5326d365f9",
            "deadLetter": {
              "at": "2026-11-25T00:06:06.426Z",
              "reason": "not-retryable"
            }
          }
        ],
        "nextCursor": null,
        "revision": 4
      }
    }
  ],
  "GET /api/queues/{queue}/dead-letters/patterns": [
    {
      "path": "/api/queues/builds/dead-letters/patterns",
      "status": 200,
      "type": "application/json",
      "body": {
        "patterns": [
          {
            "signature": "f7f69076204351c41ac6bf34fa45fc8321e90355a46677802e742a5326d365f9",
            "type": "eng-backend",
            "count": 1,
            "sample": "connection refused",
            "firstAt": "2026-11-25T00:06:06.631Z",
            "lastAt": "2026-11-25T00:06:06.631Z",
            "tasks": [
              "fix-login"
            ]
          }
        ],
        "revision": 4
      }
    }
  ],
  "POST /api/queues/{queue}/dead-letters/{id}/retry": [
    {
      "path": "/api/queues/builds/dead-letters/fix-login/retry",
      "status": 200,
      "type": "application/json",
      "body": {
        "retried": [
          "fix-login"
        ]
      }
    },
    {
      "path": "/api/queues/builds/dead-letters/fix-login/retry",
      "status": 200,
      "type": "application/json",
      "body": {
        "retried": [
          "fix-login"
        ]
      }
    }
  ],
  "POST /api/queues/{queue}/dead-letters/retry": [
    {
      "path": "/api/queues/builds/dead-letters/retry",
      "status": 200,
      "type": "application/json",
      "body": {
        "retried": [
          "fix-login"
        ]
      }
    },
    {
      "path": "/api/queues/builds/dead-letters/retry",
      "status": 200,
      "type": "application/json",
      "body": {
        "retried": [],
        "count": 1,
        "redrive": {
          "filter": {
            "type": "eng-*"
          },
          "perMinute": 30,
          "reviewer": "ada",
          "reason": "the host is up again",
          "retried": 0,
          "startedAt": "2026-11-25T00:06:07.094Z",
          "nextAt": "2026-11-25T00:06:07.094Z"
        }
      }
    },
    {
      "path": "/api/queues/builds/dead-letters/retry",
      "status": 200,
      "type": "application/json",
      "body": {
        "retried": [],
        "count": 1
      }
    }
  ],
  "GET /api/queues/{queue}/dead-letters/redrive": [
    {
      "path": "/api/queues/builds/dead-letters/redrive",
      "status": 200,
      "type": "application/json",
      "body": {
        "redrive": null
      }
    }
  ],
  "DELETE /api/queues/{queue}/dead-letters/redrive": [
    {
      "path": "/api/queues/builds/dead-letters/redrive?reason=the%20host%20is%20down%20again",
      "status": 200,
      "type": "application/json",
      "body": {
        "redrive": {
          "filter": {
            "type": "ops-*"
          },
          "perMinute": 30,
          "reviewer": "ada",
          "reason": "the host is up again",
          "retried": 1,
          "startedAt": "2026-11-25T00:06:07.515Z",
          "nextAt": null,
          "stopped": {
            "at": "2026-11-25T00:06:07.524Z",
            "cause": "by-hand"
          }
        }
      }
    }
  ],
  "POST /api/queues/{queue}/dead-letters/{id}/discard": [
    {
      "path": "/api/queues/builds/dead-letters/fix-login/discard",
      "status": 200,
      "type": "application/json",
      "body": {
        "discarded": [
          "fix-login"
        ],
        "cancelled": []
      }
    }
  ],
  "POST /api/queues/{queue}/dead-letters/discard": [
    {
      "path": "/api/queues/builds/dead-letters/discard",
      "status": 200,
      "type": "application/json",
      "body": {
        "discarded": [
          "fix-login"
        ],
        "cancelled": []
      }
    }
  ],
  "POST /api/queues/{queue}/dead-letters/{id}/snooze": [
    {
      "path": "/api/queues/builds/dead-letters/fix-login/snooze",
      "status": 200,
      "type": "application/json",
      "body": {
        "snoozed": [
          "fix-login"
        ]
      }
    }
  ],
  "POST /api/queues/{queue}/dead-letters/snooze": [
    {
      "path": "/api/queues/builds/dead-letters/snooze",
      "status": 200,
      "type": "application/json",
      "body": {
        "snoozed": [
          "fix-login"
        ]
      }
    }
  ],
  "POST /api/queues/{queue}/dead-letters/{id}/escalate": [
    {
      "path": "/api/queues/builds/dead-letters/fix-login/escalate",
      "status": 200,
      "type": "application/json",
      "body": {
        "escalated": [
          "fix-login"
        ]
      }
    }
  ],
  "POST /api/queues/{queue}/dead-letters/escalate": [
    {
      "path": "/api/queues/builds/dead-letters/escalate",
      "status": 200,
      "type": "application/json",
      "body": {
        "escalated": [
          "fix-login"
        ]
      }
    }
  ],
  "GET /api/queues/{queue}/approvals": [
    {
      "path": "/api/queues/builds/approvals",
      "status": 200,
      "type": "application/json",
      "body": {
        "approvals": [
          {
            "id": "0aeecadf-de18-812d-aa74-38d8e63f9b3f",
            "cause": "other-ticket",
            "parent": "fix-login",
            "root": "fix-login",
            "kind": "spawn",
            "at": "2026-11-25T00:06:08.161Z",
            "tasks": [
              {
                "id": "13f43568-f2cd-85fd-a19d-2b4870b17414",
                "type": "eng-backend",
                "timeout": 3600,
                "maxRetries": 3,
                "backoffSeconds": 60,
                "ticketId": "T-2",
                "parentTaskId": "fix-login",
                "priority": 5,
                "phase": "ANALYSIS",
                "discovery": "optimization_opportunity",
                "rootTaskId": "fix-login",
                "generation": 1
              }
            ]
          }
        ],
        "revision": 3
      }
    }
  ],
  "GET /api/queues/{queue}/approvals/{id}": [
    {
      "path": "/api/queues/builds/approvals/0aeecadf-de18-812d-aa74-38d8e63f9b3f",
      "status": 200,
      "type": "application/json",
      "body": {
        "id": "0aeecadf-de18-812d-aa74-38d8e63f9b3f",
        "cause": "other-ticket",
        "parent": "fix-login",
        "root": "fix-login",
        "kind": "spawn",
        "at": "2026-11-25T00:06:08.256Z",
        "tasks": [
          {
            "id": "13f43568-f2cd-85fd-a19d-2b4870b17414",
            "type": "eng-backend",
            "timeout": 3600,
            "maxRetries": 3,
            "backoffSeconds": 60,
            "ticketId": "T-2",
            "parentTaskId": "fix-login",
            "priority": 5,
            "phase": "ANALYSIS",
            "discovery": "optimization_opportunity",
            "rootTaskId": "fix-login",
            "generation": 1,
            "payload": {
              "discovery": {
                "details": "one query for each row",
                "ticketId": "T-2",
                "type": "optimization_opportunity"
              },
              "parent": {
                "payload": {
                  "goal": "fix the login"
                }
              }
            },
            "description": "optimization_opportunity: one query for each row"
          }
        ],
        "chain": [
          {
            "id": "fix-login",
            "number": 1,
            "type": "eng-backend",
            "status": "completed",
            "createdAt": "2026-11-25T00:06:08.236Z",
            "lastError": null
          }
        ],
        "signatures": {},
        "revision": 3
      }
    }
  ],
  "POST /api/queues/{queue}/approvals/{id}/approve": [
    {
      "path": "/api/queues/builds/approvals/0aeecadf-de18-812d-aa74-38d8e63f9b3f/approve",
      "status": 200,
      "type": "application/json",
      "body": {
        "approved": true,
        "spawned": [
          "13f43568-f2cd-85fd-a19d-2b4870b17414"
        ],
        "retried": []
      }
    }
  ],
  "POST /api/queues/{queue}/approvals/{id}/refuse": [
    {
      "path": "/api/queues/builds/approvals/0aeecadf-de18-812d-aa74-38d8e63f9b3f/refuse",
      "status": 200,
      "type": "application/json",
      "body": {
        "refused": true
      }
    }
  ],
  "GET /api/queues/{queue}/breakers": [
    {
      "path": "/api/queues/builds/breakers",
      "status": 200,
      "type": "application/json",
      "body": {
        "breakers": {
          "eng-backend": {
            "state": "closed",
            "failures": 1,
            "lastFailure": "2026-11-25T00:06:09.252Z"
          }
        }
      }
    }
  ],
  "POST /api/queues/{queue}/breakers/{type}/open": [
    {
      "path": "/api/queues/builds/breakers/eng-backend/open",
      "status": 200,
      "type": "application/json",
      "body": {
        "type": "eng-backend",
        "breaker": {
          "state": "open",
          "failures": 0,
          "reason": "the build host is being moved",
          "openedAt": "2026-11-25T00:06:09.408Z"
        }
      }
    }
  ],
  "POST /api/queues/{queue}/breakers/{type}/close": [
    {
      "path": "/api/queues/builds/breakers/eng-backend/close",
      "status": 200,
      "type": "application/json",
      "body": {
        "type": "eng-backend",
        "breaker": {
          "state": "closed",
          "failures": 0,
          "reason": "the host is there",
          "openedAt": "2026-11-25T00:06:09.570Z"
        }
      }
    }
  ],
  "GET /api/queues": [
    {
      "path": "/api/queues",
      "status": 200,
      "type": "application/json",
      "body": {
        "queues": [
          {
            "name": "builds",
            "revision": 0,
            "paused": null,
            "total": 1,
            "byStatus": {
              "scheduled": 0,
              "waiting": 0,
              "blocked": 0,
              "pending": 1,
              "queued": 0,
              "in-progress": 0,
              "incomplete": 0,
              "completed": 0,
              "dead-letter": 0,
              "cancelled": 0,
              "discarded": 0
            }
          }
        ]
      }
    }
  ],
  "GET /api/queues/{queue}": [
    {
      "path": "/api/queues/builds",
      "status": 200,
      "type": "application/json",
      "body": {
        "name": "builds",
        "revision": 0,
        "paused": null,
        "total": 1,
        "byStatus": {
          "scheduled": 0,
          "waiting": 0,
          "blocked": 0,
          "pending": 1,
          "queued": 0,
          "in-progress": 0,
          "incomplete": 0,
          "completed": 0,
          "dead-letter": 0,
          "cancelled": 0,
          "discarded": 0
        }
      }
    }
  ],
  "DELETE /api/queues/{queue}": [
    {
      "path": "/api/queues/builds?reason=the%20project%20is%20over",
      "status": 200,
      "type": "application/json",
      "body": {
        "name": "builds",
        "deleted": true,
        "revision": 2
      }
    }
  ],
  "GET /api/queues/{queue}/depth": [
    {
      "path": "/api/queues/builds/depth",
      "status": 200,
      "type": "application/json",
      "body": {
        "total": 1,
        "byStatus": {
          "scheduled": 0,
          "waiting": 0,
          "blocked": 0,
          "pending": 1,
          "queued": 0,
          "in-progress": 0,
          "incomplete": 0,
          "completed": 0,
          "dead-letter": 0,
          "cancelled": 0,
          "discarded": 0
        },
        "byPriority": {
          "CRITICAL": 0,
          "HIGH": 0,
          "MEDIUM": 1,
          "LOW": 0
        },
        "byType": {
          "eng-backend": 1
        },
        "byPhase": {
          "IMPLEMENTATION": 1
        },
        "byTenant": {
          "acme": 1
        },
        "oldestPendingAt": "2026-11-25T00:06:13.944Z",
        "oldestWaitSeconds": 0.017,
        "revision": 0
      }
    }
  ],
  "GET /api/queues/{queue}/settings": [
    {
      "path": "/api/queues/builds/settings",
      "status": 200,
      "type": "application/json",
      "body": {
        "policy": "priority",
        "decisionReport": "required",
        "deduplicate": "content",
        "erasable": false,
        "tenants": "shared",
        "retentionSeconds": 604800,
        "maxAttempts": 25,
        "defaults": {
          "timeout": 3600,
          "maxRetries": 3,
          "backoffSeconds": 60,
          "maxBackoffSeconds": 3600,
          "jitter": 0.1
        },
        "capacity": {
          "maxConcurrentAgents": 10,
          "overcapLimit": 1,
          "bumpAndStart": true
        },
        "alerts": {
          "criticalDepthSeconds": 60,
          "retrySpikeMin": 10
        },
        "score": {
          "priority": 0.45,
          "age": 0.2,
          "deadline": 0.15,
          "blockers": 0.15,
          "retries": 0.05,
          "ageCeiling": 3600,
          "slaUrgencyWindow": 900,
          "slaBoost": 1.25,
          "starvationLimit": 7200,
          "starvationFloor": 0.6,
          "blockerCeiling": 10
        },
        "rateLimit": {
          "base": 60,
          "max": 3600,
          "jitter": 0.1,
          "slowdownFactor": 0.5,
          "maxPerTask": 20
        },
        "assignment": {
          "maxQueueScanBatch": 200,
          "agentTaskBackoffWindow": 1800,
          "tenants": {
            "default": 1
          }
        },
        "loops": {
          "repeatSignatureLimit": 3,
          "maxRounds": 10,
          "maxGenerations": 10,
          "maxSpawned": 100
        },
        "discoveries": {
          "security_issue": {
            "phase": "ANALYSIS",
            "priority": "CRITICAL"
          },
          "requires_clarification": {
            "phase": "REQUIREMENTS"
          },
          "optimization_opportunity": {
            "phase": "ANALYSIS",
            "priority": "MEDIUM"
          }
        },
        "breakers": {
          "defaults": {
            "failureThreshold": 5,
            "cooldownSeconds": 300,
            "halfOpenAfter": 60,
            "countOn": "dead-letter"
          },
          "overrides": {}
        }
      }
    }
  ],
  "PATCH /api/queues/{queue}/settings": [
    {
      "path": "/api/queues/builds/settings",
      "status": 200,
      "type": "application/json",
      "body": {
        "policy": "priority",
        "decisionReport": "optional",
        "deduplicate": "content",
        "erasable": false,
        "tenants": "shared",
        "retentionSeconds": 604800,
        "maxAttempts": 25,
        "defaults": {
          "timeout": 3600,
          "maxRetries": 3,
          "backoffSeconds": 60,
          "maxBackoffSeconds": 3600,
          "jitter": 0.1
        },
        "capacity": {
          "maxConcurrentAgents": 50,
          "overcapLimit": 1,
          "bumpAndStart": true
        },
        "alerts": {
          "criticalDepthSeconds": 60,
          "retrySpikeMin": 10
        },
        "score": {
          "priority": 0.45,
          "age": 0.2,
          "deadline": 0.15,
          "blockers": 0.15,
          "retries": 0.05,
          "ageCeiling": 3600,
          "slaUrgencyWindow": 900,
          "slaBoost": 1.25,
          "starvationLimit": 7200,
          "starvationFloor": 0.6,
          "blockerCeiling": 10
        },
        "rateLimit": {
          "base": 60,
          "max": 3600,
          "jitter": 0.1,
          "slowdownFactor": 0.5,
          "maxPerTask": 20
        },
        "assignment": {
          "maxQueueScanBatch": 200,
          "agentTaskBackoffWindow": 1800,
          "tenants": {
            "default": 1
          }
        },
        "loops": {
          "repeatSignatureLimit": 3,
          "maxRounds": 10,
          "maxGenerations": 10,
          "maxSpawned": 100
        },
        "discoveries": {
          "security_issue": {
            "phase": "ANALYSIS",
            "priority": "CRITICAL"
          },
          "requires_clarification": {
            "phase": "REQUIREMENTS"
          },
          "optimization_opportunity": {
            "phase": "ANALYSIS",
            "priority": "MEDIUM"
          }
        },
        "breakers": {
          "defaults": {
            "failureThreshold": 5,
            "cooldownSeconds": 300,
            "halfOpenAfter": 60,
            "countOn": "dead-letter"
          },
          "overrides": {
            "ops-security": {
              "failureThreshold": 3
            }
          }
        }
      }
    }
  ],
  "POST /api/queues/{queue}/pause": [
    {
      "path": "/api/queues/builds/pause",
      "status": 200,
      "type": "application/json",
      "body": {
        "paused": "maintenance until noon"
      }
    }
  ],
  "POST /api/queues/{queue}/resume": [
    {
      "path": "/api/queues/builds/resume",
      "status": 200,
      "type": "application/json",
      "body": {
        "paused": null
      }
    }
  ],
  "GET /api/queues/{queue}/limits": [
    {
      "path": "/api/queues/builds/limits",
      "status": 200,
      "type": "application/json",
      "body": {
        "limits": [
          {
            "key": "smtp",
            "concurrency": 5,
            "live": 0
          }
        ],
        "revision": 0
      }
    }
  ],
  "GET /api/queues/{queue}/limits/{key}": [
    {
      "path": "/api/queues/builds/limits/smtp",
      "status": 200,
      "type": "application/json",
      "body": {
        "key": "smtp",
        "concurrency": 5,
        "live": 0
      }
    }
  ],
  "PUT /api/queues/{queue}/limits/{key}": [
    {
      "path": "/api/queues/builds/limits/smtp",
      "status": 200,
      "type": "application/json",
      "body": {
        "key": "smtp",
        "concurrency": 5,
        "rate": {
          "starts": 100,
          "perSeconds": 60
        },
        "live": 0
      }
    },
    {
      "path": "/api/queues/builds/limits/type:eng-backend",
      "status": 200,
      "type": "application/json",
      "body": {
        "key": "type:eng-backend",
        "concurrency": 2,
        "live": 0
      }
    }
  ],
  "DELETE /api/queues/{queue}/limits/{key}": [
    {
      "path": "/api/queues/builds/limits/smtp",
      "status": 200,
      "type": "application/json",
      "body": {
        "key": "smtp",
        "removed": true
      }
    }
  ],
  "GET /api/queues/{queue}/schedules": [
    {
      "path": "/api/queues/builds/schedules",
      "status": 200,
      "type": "application/json",
      "body": {
        "schedules": [
          {
            "name": "nightly",
            "cron": "0 2 * * *",
            "timeZone": "Europe/Berlin",
            "missed": "once",
            "overlap": "allow",
            "paused": true,
            "task": {
              "payload": {
                "target": "db1"
              },
              "priority": "HIGH",
              "type": "ops-backup"
            },
            "next": [],
            "last": []
          }
        ],
        "revision": 0
      }
    }
  ],
  "POST /api/queues/{queue}/schedules": [
    {
      "path": "/api/queues/builds/schedules",
      "status": 201,
      "type": "application/json",
      "body": {
        "name": "nightly",
        "cron": "0 2 * * *",
        "timeZone": "Europe/Berlin",
        "missed": "once",
        "overlap": "allow",
        "paused": false,
        "task": {
          "payload": {
            "target": "db1"
          },
          "priority": "HIGH",
          "type": "ops-backup"
        },
        "next": [
          "2026-11-25T01:00:00.000Z",
          "2026-11-26T01:00:00.000Z",
          "2026-11-27T01:00:00.000Z",
          "2026-11-28T01:00:00.000Z",
          "2026-11-29T01:00:00.000Z"
        ],
        "last": []
      }
    },
    {
      "path": "/api/queues/builds/schedules",
      "status": 201,
      "type": "application/json",
      "body": {
        "name": "hourly",
        "every": 3600,
        "timeZone": "UTC",
        "missed": "once",
        "overlap": "skip",
        "paused": false,
        "task": {
          "type": "ops-check"
        },
        "next": [
          "2026-11-25T01:06:15.300Z",
          "2026-11-25T02:06:15.300Z",
          "2026-11-25T03:06:15.300Z",
          "2026-11-25T04:06:15.300Z",
          "2026-11-25T05:06:15.300Z"
        ],
        "last": []
      }
    }
  ],
  "GET /api/queues/{queue}/schedules/{name}": [
    {
      "path": "/api/queues/builds/schedules/nightly",
      "status": 200,
      "type": "application/json",
      "body": {
        "name": "nightly",
        "cron": "0 2 * * *",
        "timeZone": "Europe/Berlin",
        "missed": "once",
        "overlap": "allow",
        "paused": true,
        "task": {
          "payload": {
            "target": "db1"
          },
          "priority": "HIGH",
          "type": "ops-backup"
        },
        "next": [],
        "last": []
      }
    }
  ],
  "PATCH /api/queues/{queue}/schedules/{name}": [
    {
      "path": "/api/queues/builds/schedules/nightly",
      "status": 200,
      "type": "application/json",
      "body": {
        "name": "nightly",
        "cron": "0 2 * * *",
        "timeZone": "Europe/Berlin",
        "missed": "once",
        "overlap": "allow",
        "paused": true,
        "task": {
          "payload": {
            "target": "db1"
          },
          "priority": "HIGH",
          "type": "ops-backup"
        },
        "next": [],
        "last": []
      }
    }
  ],
  "DELETE /api/queues/{queue}/schedules/{name}": [
    {
      "path": "/api/queues/builds/schedules/nightly",
      "status": 200,
      "type": "application/json",
      "body": {
        "name": "nightly",
        "removed": true
      }
    }
  ],
  "GET /api/queues/{queue}/alerts": [
    {
      "path": "/api/queues/builds/alerts",
      "status": 200,
      "type": "application/json",
      "body": {
        "alerts": [],
        "revision": 0
      }
    }
  ],
  "GET /api/queues/{queue}/reports/{report}": [
    {
      "path": "/api/queues/builds/reports/throughput?from=2026-01-05&to=2026-01-07&bucket=day&zone=Europe/Berlin&atLeast=0",
      "status": 200,
      "type": "application/json",
      "body": {
        "report": "throughput",
        "queue": "builds",
        "revision": 0,
        "behind": 0,
        "from": "2026-01-05T00:00:00+01:00",
        "to": "2026-01-07T00:00:00+01:00",
        "zone": "Europe/Berlin",
        "bucket": "day",
        "by": "all",
        "rows": [
          {
            "from": "2026-01-05T00:00:00+01:00",
            "to": "2026-01-06T00:00:00+01:00",
            "enqueued": 0,
            "claimed": 0,
            "completed": 0,
            "deadLettered": 0,
            "cancelled": 0,
            "enqueuedPerHour": 0,
            "completedPerHour": 0
          },
          {
            "from": "2026-01-06T00:00:00+01:00",
            "to": "2026-01-07T00:00:00+01:00",
            "enqueued": 0,
            "claimed": 0,
            "completed": 0,
            "deadLettered": 0,
            "cancelled": 0,
            "enqueuedPerHour": 0,
            "completedPerHour": 0
          }
        ]
      }
    },
    {
      "path": "/api/queues/builds/reports/throughput?from=2026-01-05&to=2026-01-07&bucket=day&zone=Europe/Berlin&by=type&top=5&format=csv&atLeast=0",
      "status": 200,
      "type": "text/csv",
      "body": "from,to,type,enqueued,claimed,completed,deadLettered,cancelled,enqueuedPerHour,completedPerHour\r\n"
    }
  ],
  "GET /api/queues/{queue}/read-models": [
    {
      "path": "/api/queues/builds/read-models?atLeast=0",
      "status": 200,
      "type": "application/json",
      "body": {
        "revision": 0,
        "behind": 0
      }
    }
  ],
  "GET /api/queues/{queue}/events": [
    {
      "path": "/api/queues/builds/events?from=0&limit=10&type=TaskEnqueued",
      "status": 200,
      "type": "application/json",
      "body": {
        "events": [
          {
            "revision": 0,
            "type": "TaskEnqueued",
            "schemaVersion": 1,
            "at": "2026-11-25T00:13:54.693Z",
            "actor": "admin",
            "correlationId": "d16577c5-fd4d-408e-a179-83e96f49675f",
            "data": {
              "task": "fix-login",
              "number": 1,
              "type": "eng-backend",
              "priority": 5,
              "idempotencyKey": "9d96a73f33a67c46514d4cef9d164bb87a8616a34cfa10dd0b6fd90744290226",
              "timeout": 3600,
              "maxRetries": 3,
              "backoffSeconds": 60,
              "content": {
                "payload": {
                  "goal": "fix the login"
                }
              }
            }
          }
        ],
        "next": null,
        "revision": 0
      }
    },
    {
      "path": "/api/queues/builds/events?task=fix-login",
      "status": 200,
      "type": "application/x-ndjson",
      "body": "{\"revision\":0,\"type\":\"TaskEnqueued\",\"schemaVersion\":1,\"at\":\"2026-11-25T00:13:54.760Z\",\"actor\":\"admin\",\"correlationId\":\"25b7b970-131c-472d-ad1b-976e0cd48d5f\",\"data\":{\"task\":\"fix-login\",\"number\":1,\"type\":\"eng-backend\",\"priority\":5,\"idempotencyKey\":\"9d96a73f33a67c46514d4cef9d164bb87a8616a34cfa10dd0b6fd90744290226\",\"timeout\":3600,\"maxRetries\":3,\"backoffSeconds\":60,\"content\":{\"payload\":{\"goal\":\"fix the login\"}}}}\n{\"revision\":1,\"type\":\"Claimed\",\"schemaVersion\":1,\"at\":\"2026-11-25T00:13:54.796Z\",\"actor\":\"admin\",\"correlationId\":\"09f721e2-e280-45dc-9ccb-f166fc3a9203\",\"data\":{\"task\":\"fix-login\",\"agent\":\"builder-1\",\"token\":1,\"expiresAt\":1795569234796}}\n"
    }
  ],
  "GET /api/queues/{queue}/tasks/{id}/history": [
    {
      "path": "/api/queues/builds/tasks/fix-login/history",
      "status": 200,
      "type": "application/json",
      "body": {
        "events": [
          {
            "revision": 0,
            "type": "TaskEnqueued",
            "schemaVersion": 1,
            "at": "2026-11-25T00:06:18.400Z",
            "actor": "admin",
            "correlationId": "2a1ff66b-76c5-4331-833c-f602fddb28b9",
            "data": {
              "task": "fix-login",
              "number": 1,
              "type": "eng-backend",
              "priority": 5,
              "idempotencyKey": "9d96a73f33a67c46514d4cef9d164bb87a8616a34cfa10dd0b6fd90744290226",
              "timeout": 3600,
              "maxRetries": 3,
              "backoffSeconds": 60,
              "content": {
                "payload": {
                  "goal": "fix the login"
                }
              }
            }
          },
          {
            "revision": 1,
            "type": "Claimed",
            "schemaVersion": 1,
            "at": "2026-11-25T00:06:18.423Z",
            "actor": "admin",
            "correlationId": "8e30bd06-7d6b-4730-853c-56bd4e1a9c2b",
            "data": {
              "task": "fix-login",
              "agent": "builder-1",
              "token": 1,
              "expiresAt": "2026-11-25T01:06:18.423Z"
            }
          },
          {
            "revision": 2,
            "type": "Completed",
            "schemaVersion": 1,
            "at": "2026-11-25T00:06:18.438Z",
            "actor": "admin",
            "correlationId": "62445c59-0366-43b2-9034-3873d8e78030",
            "data": {
              "task": "fix-login",
              "agent": "builder-1",
              "token": 1,
              "content": {
                "decisionReport": "the session cookie had no expiry",
                "output": {
                  "commit": "4f2a91c"
                }
              }
            }
          }
        ],
        "next": null
      }
    }
  ],
  "GET /api/queues/{queue}/state": [
    {
      "path": "/api/queues/builds/state?revision=0&status=pending&limit=1",
      "status": 200,
      "type": "application/json",
      "body": {
        "revision": 0,
        "at": "2026-11-25T00:06:18.590Z",
        "paused": null,
        "counts": {
          "total": 1,
          "byStatus": {
            "scheduled": 0,
            "waiting": 0,
            "blocked": 0,
            "pending": 1,
            "queued": 0,
            "in-progress": 0,
            "incomplete": 0,
            "completed": 0,
            "dead-letter": 0,
            "cancelled": 0,
            "discarded": 0
          },
          "byPriority": {
            "CRITICAL": 0,
            "HIGH": 0,
            "MEDIUM": 1,
            "LOW": 0
          },
          "byType": {
            "eng-backend": 1
          },
          "byPhase": {},
          "byTenant": {},
          "oldestPendingAt": "2026-11-25T00:06:18.590Z",
          "oldestWaitSeconds": 0
        },
        "breakers": {},
        "agents": [],
        "tasks": [
          {
            "id": "fix-login",
            "number": 1,
            "type": "eng-backend",
            "priority": 5,
            "status": "pending",
            "payload": {
              "goal": "fix the login"
            },
            "dependencies": [],
            "timeout": 3600,
            "maxRetries": 3,
            "backoffSeconds": 60,
            "idempotencyKey": "9d96a73f33a67c46514d4cef9d164bb87a8616a34cfa10dd0b6fd90744290226",
            "retries": 0,
            "attempts": 0,
            "attempt": 0,
            "attemptsMax": 3,
            "claimants": [],
            "currentClaimant": null,
            "claimedBy": null,
            "claimedAt": null,
            "createdAt": "2026-11-25T00:06:18.590Z",
            "completedAt": null,
            "lastError": null
          }
        ],
        "nextCursor": null
      }
    }
  ],
  "GET /api/queues/{queue}/diff": [
    {
      "path": "/api/queues/builds/diff?from=0&to=1&limit=10",
      "status": 200,
      "type": "application/json",
      "body": {
        "from": {
          "revision": 0,
          "at": "2026-11-25T00:06:22.121Z"
        },
        "to": {
          "revision": 1,
          "at": "2026-11-25T00:06:22.148Z"
        },
        "tasks": [
          {
            "id": "fix-login",
            "number": 1,
            "type": "eng-backend",
            "before": {
              "status": "pending",
              "attempt": 0,
              "currentClaimant": null,
              "claimedBy": null,
              "claimedAt": null,
              "leaseExpiresAt": null
            },
            "after": {
              "status": "in-progress",
              "attempt": 1,
              "currentClaimant": "builder-1",
              "claimedBy": "builder-1",
              "claimedAt": "2026-11-25T00:06:22.148Z",
              "leaseExpiresAt": "2026-11-25T01:06:22.148Z"
            },
            "events": [
              {
                "revision": 1,
                "type": "Claimed",
                "at": "2026-11-25T00:06:22.148Z",
                "actor": "admin",
                "correlationId": "228b1444-3366-4740-9fc2-ae7d935072e6"
              }
            ]
          }
        ],
        "nextCursor": null,
        "breakers": [],
        "revision": 1
      }
    }
  ],
  "GET /api/queues/{queue}/verify": [
    {
      "path": "/api/queues/builds/verify",
      "status": 200,
      "type": "application/json",
      "body": {
        "ok": true,
        "events": 1,
        "head": {
          "revision": 0,
          "hash": "lH-qCHNebw2eN8xfjq7SdLTQNszI0231M241n73UiPg"
        },
        "begins": 0
      }
    }
  ],
  "GET /api/tokens": [
    {
      "path": "/api/tokens",
      "status": 200,
      "type": "application/json",
      "body": {
        "tokens": [
          {
            "id": "admin",
            "name": "admin",
            "roles": [
              "admin"
            ],
            "status": "valid",
            "lastUsedAt": "2026-11-25T00:09:18.358Z"
          },
          {
            "id": "0ed8a0294c0c",
            "name": "build-farm",
            "roles": [
              "worker"
            ],
            "status": "valid",
            "queues": [
              "builds"
            ],
            "createdAt": "2026-11-25T00:09:18.341Z",
            "createdBy": "admin",
            "lastUsedAt": null
          }
        ]
      }
    }
  ],
  "POST /api/tokens": [
    {
      "path": "/api/tokens",
      "status": 201,
      "type": "application/json",
      "body": {
        "id": "c33601dba78b",
        "name": "ci",
        "roles": [
          "producer",
          "auditor"
        ],
        "status": "valid",
        "queues": [
          "builds"
        ],
        "rate": {
          "burst": 200,
          "perSecond": 50
        },
        "expiresAt": "2100-01-01T00:00:00.000Z",
        "createdAt": "2026-11-25T00:09:18.382Z",
        "createdBy": "admin",
        "lastUsedAt": null,
        "token": "dbk_YuBmP4lmJT3CS9iXn5Wf0YygLDZXGVTD0JWFz7BIfBU"
      }
    }
  ],
  "DELETE /api/tokens/{id}": [
    {
      "path": "/api/tokens/e66d54caa589?reason=the%20machines%20were%20sold",
      "status": 200,
      "type": "application/json",
      "body": {
        "id": "e66d54caa589",
        "name": "old-farm",
        "roles": [
          "worker"
        ],
        "status": "revoked",
        "queues": [
          "builds"
        ],
        "createdAt": "2026-11-25T00:09:18.429Z",
        "createdBy": "admin",
        "revoked": {
          "at": "2026-11-25T00:09:18.456Z",
          "by": "admin",
          "reason": "the machines were sold"
        },
        "lastUsedAt": null
      }
    }
  ],
  "GET /api/me": [
    {
      "path": "/api/me",
      "status": 200,
      "type": "application/json",
      "body": {
        "name": "admin",
        "roles": [
          "admin"
        ],
        "auth": "tokens"
      }
    }
  ],
  "GET /healthz": [
    {
      "path": "/healthz",
      "status": 200,
      "type": "application/json",
      "body": {
        "status": "ok"
      }
    }
  ],
  "GET /readyz": [
    {
      "path": "/readyz",
      "status": 200,
      "type": "application/json",
      "body": {
        "status": "ready",
        "queues": 1
      }
    }
  ],
  "GET /metrics": [
    {
      "path": "/metrics",
      "status": 200,
      "type": "text/plain",
      "body": "# HELP daybook_process_cpu_user_seconds_total Total user CPU time spent in seconds.\n# TYPE daybook_process_cpu_user_seconds_total counter\n"
    }
  ],
  "GET /api/openapi.json": [
    {
      "path": "/api/openapi.json",
      "status": 200,
      "type": "application/json",
      "body": {
        "openapi": "3.1.0"
      }
    }
  ]
}
