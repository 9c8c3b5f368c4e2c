export { type CompatibleOptions, compatible } from './compatible.ts'
export { defineProvider, type ProviderRow } from './define-provider.ts'
export { openai } from './openai.ts'
export { type SimulatedOptions, simulated } from './simulated.ts'
