// Code that few requests need: the catalog rows, and compaction. They are loaded together on first use, because loading each part
// separately would split a bundle into more files.

export { readCredits } from './ai-gateway/credits.ts'
export { listLanguageModels } from './ai-gateway/models.ts'
export { byokProviders, providerTiers } from './catalog/byok.ts'
export { getModel, listModels } from './catalog/models.ts'
export { directoryModels, registryModels, registryProviders } from './catalog/registry.ts'
export { home } from './home.ts'
export { me } from './identity.ts'
export { compactionReply } from './inference/compaction-reply.ts'
