export { type Compaction, compact } from './compact.ts'
