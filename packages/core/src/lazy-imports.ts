// Code that few requests need, loaded together on first use. Separate dynamic imports would split a bundle into more files.

export { identityOf } from './management/identity.ts'
export { compact } from './request/compaction/compact.ts'
export { callableOffers } from './request/dry-run/callable-offers.ts'
export { countRequestTokens } from './request/dry-run/count-tokens.ts'
export { fidelityOfModel } from './request/dry-run/fidelity.ts'
export { planRequest } from './request/dry-run/planned-request.ts'
