export { answer, json, type Play, refusing, saying, streamed, whole } from './chaos/acts.ts'
export { type AddressFault, addressFault, addressFaults, type DeadEnd } from './chaos/addresses.ts'
export { type Certificate, selfSigned } from './chaos/certificate.ts'
export { type Billed, type Expectation, type Expected, expectedOf, type Fault, type Lacks, type Mode } from './chaos/expect.ts'
export { faultNamed, faults, faultsOf, unplayable } from './chaos/faults.ts'
export { harmfulHeaders } from './chaos/faults-body.ts'
export { unsolicitedText } from './chaos/faults-connection.ts'
export { leakedSecret } from './chaos/faults-status.ts'
export { hostileText, leakedSecrets } from './chaos/faults-words.ts'
export type { Line, Pace, SeenRequest } from './chaos/line.ts'
export { brokenTransport, type ChaosProvider, chaosProvider, type Script } from './chaos-provider.ts'
export { cuts, seeded } from './cuts.ts'
export { type FakeClock, fakeClock } from './fake-clock.ts'
export { fasterClock } from './faster-clock.ts'
export { type Reachable, type TestGateway, type TestGatewayOptions, testGateway, testModels, testPrice } from './gateway.ts'
export { asSse, isSse, type RecordedDialect, type Recording, type Recordings, recordings } from './recorded.ts'
export { replayProvider } from './replay-provider.ts'
export { type Act, acts, type ScriptedCall, type ScriptedProvider, type Stage, scriptedProvider } from './scripted-provider.ts'
export {
  type Asked,
  defaultText,
  type Speech,
  type SpokenCall,
  type SpokenUsage,
  sse,
  type Told,
  type Tongue,
  type Trouble,
} from './speech/speech.ts'
export { type SpeechName, type SpokenDialect, speeches, tongues } from './speech/tongues.ts'
