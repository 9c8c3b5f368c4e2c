// Code that few requests need, loaded together on first use. Separate dynamic imports would split a bundle into more files.

export { compact } from '@signalbox/core/request/compaction'
export { callableOffers, countRequestTokens, fidelityOfModel, planRequest } from '@signalbox/core/request/dry-run'
export { identityOf } from '@signalbox/workspaces/identity'
