import type { ProviderDialect } from '../protocol/dialect.ts'
import type { Quirks } from '../protocol/model.ts'

/** Whether images or files must be sent inline instead of by URL, because of the dialect or the provider. */
export const takesBytesOnly = (kind: 'image' | 'file', { bytes_only }: Quirks, dialect: ProviderDialect | undefined): boolean =>
  bytes_only === true || dialect?.fidelity?.[kind === 'image' ? 'imageUrl' : 'fileUrl'] === 'refused'
