export { clientFacts, clientLoaders } from './client-loaders.ts'
export { type OutputLosses, outputLosses } from './output-losses.ts'
export { eachUnknownField, unknownFieldWarnings } from './unknown-fields.ts'
