export type { AdapterOptions, StartAdapter, Started } from './adapter/setting.ts'
export { describeAdapter } from './adapter-suite.ts'
