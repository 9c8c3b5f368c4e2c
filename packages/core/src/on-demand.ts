// What few requests need. It is loaded together, when something of it is first called: each part that is loaded by itself would split the
// rest of a bundle into more files.

export { identityOf } from './management/identity.ts'
export { compact } from './request/compaction/compact.ts'
export { callableOffers } from './request/dry-run/callable-offers.ts'
export { countRequestTokens } from './request/dry-run/count-tokens.ts'
export { fidelityOfModel } from './request/dry-run/fidelity.ts'
export { planRequest } from './request/dry-run/planned-request.ts'
