// What few requests need: the rows that read what the gateway knows, and compaction. It is loaded together, when something of it is first
// requested: each part that is loaded by itself would split the rest of a bundle into more files.

export { readCredits } from './ai-gateway/credits.ts'
export { listLanguageModels } from './ai-gateway/models.ts'
export { byokProviders, providerTiers } from './catalog/byok.ts'
export { getModel, listModels } from './catalog/models.ts'
export { directoryModels, registryModels, registryProviders } from './catalog/registry.ts'
export { me } from './identity.ts'
export { compactionReply } from './inference/compaction-reply.ts'
