import type { ProviderDialect } from '../protocol/dialect.ts'
import type { Quirks } from '../protocol/model.ts'

/** Whether images or files must be sent inline instead of by URL, because of the dialect or the provider. */
export const requiresInlineMedia = (kind: 'image' | 'file', { inlineMediaOnly }: Quirks, dialect: ProviderDialect | undefined): boolean =>
  inlineMediaOnly === true || dialect?.fidelity?.[kind === 'image' ? 'imageUrl' : 'fileUrl'] === 'refused'
