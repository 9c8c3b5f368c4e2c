export type { AdapterOptions, StartAdapter, Started } from './adapter/fixture.ts'
export { describeAdapter } from './adapter-suite.ts'
