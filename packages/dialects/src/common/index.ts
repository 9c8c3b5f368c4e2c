export { fromBase64Url, toBase64Url } from './base64.ts'
export { copySlice } from './copy-slice.ts'
export { hasTooManyItems } from './count-items.ts'
export { parseDataUrl } from './data-url.ts'
export { earlierItem, withoutForeignRecords } from './earlier-answers.ts'
export { withoutSteps, withSteps } from './extra-steps.ts'
export { type FeatureId, features } from './features.ts'
export { renameError, renameWarnings } from './field-names.ts'
export {
  anyText,
  arrayOf,
  booleanValue,
  integerBetween,
  literalOf,
  nonEmptyText,
  numberBetween,
  objectValue,
  optional,
  optionalFields,
  type Read,
  refuse,
  required,
  stringMap,
  textUpTo,
} from './field-readers.ts'
export { makeSchemaCache, makeSchemaFitter, type SchemaCache } from './fit-schemas.ts'
export { fnv1a } from './fnv.ts'
export { requestIdOf } from './ids.ts'
export { objects } from './json.ts'
export { type NamedModel, namedModels } from './named-models.ts'
export { once } from './once.ts'
export { clientItems, outputFeatures } from './output-features.ts'
export { allTools, bringsTools, isHosted, isOn, paidFieldsOf, toolTypeOf, unpricedToolOf } from './paid-tools.ts'
export { excessIn, isTooComplex, type JsonCaps, parseBounded } from './parse-frame.ts'
export { isContentLost, itemParts } from './part-warnings.ts'
export { readHeadroom } from './read-rate-limit-headers.ts'
export { withoutSecret } from './redact.ts'
export { isUnpricedFlex, requestPrice, type SoldOffer, type StatedUsage, soldOffer, unpricedExtras } from './request-price.ts'
export { requiresInlineMedia } from './requires-inline-media.ts'
export { checkRoutingFields, readRouting } from './routing-options.ts'
export { mayThink, wantsLogprobs } from './sampling.ts'
export { buysDear } from './service-tier.ts'
export { isSameRecord, storedIdOf, withoutStoredRecords } from './stored-records.ts'
export { effortForBudget } from './thinking-budget.ts'
export { hostedToolOf, oneCallMore } from './usage.ts'
export { type UsedSettings, usedSettings } from './used-settings.ts'
