export { staleDays } from './age.ts'
export { type Catalog, type CatalogQuery, catalog, catalogModels, type SellingProvider, sold } from './catalog.ts'
export { CatalogError } from './fault.ts'
export { type Changes, type ModelChanges, type OfferChanges, type Overrides, overridden, type ProviderChanges } from './overrides.ts'
