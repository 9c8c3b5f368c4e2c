import type { Endpoints } from './endpoint.ts'
/** The fields of the verification of the audit chain. */
export const auditVerificationFields = {
  valid: { kind: 'boolean', reply: 'always', description: 'Whether the log is unchanged.', example: true },
  checked: { kind: 'integer', reply: 'always', description: 'Number of rows that were checked.', example: 120 },
  anchored: {
    kind: 'boolean',
    reply: 'always',
    description: 'Whether the end of the log is recorded, so that removed or replaced rows at the end are detected.',
    example: true,
  },
  anchoredFrom: {
    kind: 'integer',
    reply: 'nullable',
    description: 'Number of the first row since which the end has been recorded. 1: from the beginning.',
    example: 1,
  },
  reason: {
    kind: 'enum',
    values: ['row_changed', 'end_missing', 'rows_added', 'chain_replaced', 'anchor_changed'],
    reply: 'nullable',
    description:
      'Why the log is not valid. `row_changed`: a row was altered or does not follow the previous one. `end_missing`: the newest rows are missing. `rows_added`: it has rows that the gateway did not write. `chain_replaced`: the newest row is a different one. `anchor_changed`: the record of the newest row was altered.',
    example: null,
  },
  firstBrokenId: { kind: 'string', reply: 'nullable', description: 'Id of the oldest row that was altered.', example: null },
} as const

/** The methods of `auditEvents`. */
export const auditEventEndpoints = {
  list: {
    route: ['GET', '/audit-events'],
    scopes: ['audit:read'],
    summary: 'List changes with their actors, newest first.',
    options: {
      event: { kind: 'string', description: 'Only events of this name, as in `api_key.created`.' },
      actorKeyId: { kind: 'string', description: 'Only changes made with this key.' },
      from: { kind: 'milliseconds', description: 'Start time, inclusive.' },
      to: { kind: 'milliseconds', description: 'End time, exclusive.' },
    },
    reply: 'AuditEvent',
    page: { name: 'AuditEventList' },
  },
  verify: {
    route: ['GET', '/audit-events/verify'],
    scopes: ['audit:read'],
    summary: 'Verify that the audit log is unchanged.',
    reply: 'AuditVerification',
    errors: ['concurrent_requests_exceeded'],
  },
} as const satisfies Endpoints
