export { codes, type ErrorCode } from './codes.ts'
export { type BudgetFacts, type ErrorFacts, errorBody, GatewayError, isGatewayError } from './gateway-error.ts'
