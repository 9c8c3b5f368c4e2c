// The fault catalogue: what a provider may do wrong, and what a client of the gateway must then receive.

export { brokenTransport } from '../chaos-provider.ts'
export { answer, answering, type HeaderFields, json, type Respond, refusing, streamed, whole } from './acts.ts'
export { type AddressFault, addressFault, addressFaults, type DeadEnd } from './addresses.ts'
export { type Certificate, selfSigned } from './certificate.ts'
export type { Exchange, Pace, SeenRequest } from './exchange.ts'
export { type Billed, type Expectation, type Expected, expectedOf, type Fault, type Lacks, type Mode } from './expect.ts'
export { faultNamed, faults, faultsOf, unplayable } from './faults.ts'
export { harmfulHeaders } from './faults-body.ts'
export { unsolicitedText } from './faults-connection.ts'
export { leakedSecret } from './faults-status.ts'
export { hostileText, leakedSecrets } from './faults-words.ts'
