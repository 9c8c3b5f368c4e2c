export { type CallableOffers, callableOffers } from './callable-offers.ts'
export { type CountTokensOptions, countRequestTokens, type TokenCount } from './count-tokens.ts'
export { type Fidelity, fidelityOfModel } from './fidelity.ts'
export { type PlannedRequest, planRequest } from './planned-request.ts'
