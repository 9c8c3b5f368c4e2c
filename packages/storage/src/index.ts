export * from './faults.ts'
export * from './routing.ts'
export type * from './storage.ts'
