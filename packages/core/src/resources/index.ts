// The resources of a workspace as tables of fields: their types, the checks of their input, and their JSON.

export { type ApiKey, type ApiKeyChange, apiKeyFields, keyUsageFields, type NewApiKey, rotateKeyFields } from './api-key.ts'
export { auditVerificationFields } from './audit-event.ts'
export {
  type AutoReloadChange,
  autoReloadFields,
  creditFields,
  ledgerEntryFields,
  type MoneyMove,
  type NewCredit,
  type Subscription,
  type SubscriptionChange,
  subscriptionFields,
} from './billing.ts'
export {
  type Budget,
  type BudgetChange,
  budgetFields,
  type CallerBudgetState,
  callerBudgetFields,
  type KeyBudget,
  type KeyBudgetChange,
  type NewBudget,
} from './budget.ts'
export { type ByokKey, type ByokKeyChange, byokKeyFields, type NewByokKey } from './byok-key.ts'
export { checkInput, immutableNames, isTaken, type NameStyle } from './check-input.ts'
export type { CreateInput, Field, Fields, InputMode, InputOf, InputSpec, RecordOf, UpdateInput, ValueSpec } from './fields.ts'
export {
  type Acceptance,
  acceptanceFields,
  type Invite,
  inviteFields,
  type Member,
  type MemberChange,
  memberFields,
  type NewInvite,
  type NewMember,
  type Role,
  roles,
} from './member.ts'
export { profileOf, type Scope, scopes } from './scopes.ts'
export { type NewSession, type Session, sessionFields } from './session.ts'
export {
  type RoutingDefaults,
  type RoutingDefaultsChange,
  routingDefaultsFields,
  type SettingsChange,
  type SettingsRecord,
  settingsFields,
} from './settings.ts'
export { fromWire, toReply, wireName, wirePath } from './wire.ts'
export type { NewWorkspace } from './workspace.ts'
