export { compatible, type CompatibleOptions } from './compatible.ts'
export { defineProvider, type ProviderRow } from './define-provider.ts'
export { openai } from './openai.ts'
export { simulated, type SimulatedOptions } from './simulated.ts'
