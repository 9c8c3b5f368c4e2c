export { budgetsOf, byokAccount, creditAccount, periodOf } from './accounts.ts'
export { ancestorIdsOf, ancestorsOf, isActive, maxAncestors } from './ancestors.ts'
export { type Authenticator, createAuthenticator } from './authenticate.ts'
export { budgetAccountAt, budgetFacts, maySee, tightestOf } from './budget-facts.ts'
export type { Caller } from './caller.ts'
export { createVault, type Vault } from './credential-vault.ts'
export {
  callLimitsTable,
  type EndUser,
  type EndUserBudget,
  type EndUserOf,
  endUserCaller,
  keyIdOfUser,
  nounOf,
  userPrefix,
} from './end-user.ts'
export { createKeyRefusals, type KeyRefusals } from './key-refusals.ts'
export type {
  AuditAnchorBody,
  CallLimits,
  CredentialBody,
  InviteBody,
  KeyBody,
  Kind,
  Kinds,
  MemberBody,
  ReloadBody,
  ReplyBody,
  SessionBody,
  SessionCountBody,
  SubscriptionBody,
  WorkspaceBody,
} from './kinds.ts'
export { type BodyChanges, changedRecord, newRecord, type Records, recordRemoval, recordsOf, type TypedRecord } from './records.ts'
export { hashSecret, isMistyped, makeSecret, prefixOf } from './secret.ts'
export { isTag } from './tags.ts'
export { createWorkspacePolicies, maxRecordsOfKind, maxRecordsRead, type WorkspacePolicies } from './workspace-policy.ts'
