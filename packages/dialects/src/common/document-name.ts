import type { FilePart } from '../protocol/item.ts'

/** The name of a document, for providers that require one. */
export const documentName = ({ url, filename }: FilePart): string =>
  filename ?? (url.startsWith('data:text/') ? 'document.txt' : 'document.pdf')
