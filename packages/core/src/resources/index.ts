export { maxSeries } from './analytics.ts'
export { type ApiKey, type ApiKeyChange, apiKeyEndpoints, apiKeyFields, type NewApiKey, rotationGrace } from './api-key.ts'
export { auditVerificationFields } from './audit-event.ts'
export {
  type AutoReloadChange,
  autoReloadFields,
  type CreditBalance,
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
  type BudgetBody,
  type BudgetChange,
  budgetFields,
  type CallerBudgetState,
  callerBudgetFields,
  type KeyBudgetChange,
  type NewBudget,
} from './budget.ts'
export { type ByokKey, type ByokKeyChange, byokKeyFields, type NewByokKey } from './byok-key.ts'
export { checkInput, immutableNames, isTaken, type NameStyle } from './check-input.ts'
export { type Endpoint, type Endpoints, optionsOf, type RoutedEndpoint } from './endpoint.ts'
export type { Field, Fields, InputMode, InputSpec, RecordOf, ValueSpec } from './fields.ts'
export { invalidValueError } from './invalid-value.ts'
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
} from './member.ts'
export { type ResourcePath, resourceAt, resources } from './resources.ts'
export { profileOf, type Scope, scopes } from './scopes.ts'
export { type NewSession, type Session, sessionFields } from './session.ts'
export {
  type RoutingDefaults,
  type RoutingDefaultsChange,
  routingDefaultsFields,
  type SettingsChange,
  type SettingsRecord,
  settingsFields,
  type WorkspaceSettings,
} from './settings.ts'
export { fromWire, toReply, toWire, wireName, wirePath, withWireNames } from './wire.ts'
export { type NewWorkspace, workspaceEndpoints, workspaceLimitFields } from './workspace.ts'
