export * from './faults.ts'
export type * from './storage.ts'
