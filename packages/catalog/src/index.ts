export { type CatalogQuery, catalogModels } from './models.ts'
