// One inference request: early admission, plan and dry runs, reply, and recorded routing decisions.

export type { Candidate, Excluded, Plan } from '../routing/plan.ts'
export { allFailed, asFailure } from '../upstream/error-message.ts'
export type { EarlyAdmission } from './admission/early-admission.ts'
export type { GatewayDecisionLog } from './attempts/gateway-decision-log.ts'
export type { Compaction } from './compaction/compact.ts'
export type { CountTokensOptions, TokenCount } from './dry-run/count-tokens.ts'
export type { FeatureFate, Fidelity } from './dry-run/fidelity.ts'
export type { PlannedChoice, PlannedRequest } from './dry-run/planned-request.ts'
export type { CallOptions, Reply } from './reply.ts'
export { evidenceFrom } from './settlement/evidence.ts'
