import type { FilePart } from '../protocol/item.ts'

/** What a document is called where a name is demanded beside its bytes. */
export const documentName = ({ url, filename }: FilePart): string =>
  filename ?? (url.startsWith('data:text/') ? 'document.txt' : 'document.pdf')
