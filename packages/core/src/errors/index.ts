export { codes, type ErrorCode } from './codes.ts'
export { errorBody, GatewayError, isGatewayError, type ErrorFacts } from './gateway-error.ts'
