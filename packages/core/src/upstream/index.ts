export { allFailedError, asFailure } from './error-message.ts'
export type { Limits, Timeouts } from './limits.ts'
export { maxFailureBytes, readBodyText } from './read-body.ts'
