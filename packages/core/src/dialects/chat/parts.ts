import type { AudioPart, FilePart, ImagePart, Part } from '../../protocol/item.ts'
import type { Quirks } from '../../protocol/model.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { documentName } from '../document-name.ts'
import { dialect, originalBody } from './wire.ts'

// Parts of a message, as this language says them.

/** Told of each part that cannot be sent, by its number, with the end of the sentence about it. */
export type Lose = (part: number, why: string) => void

const elsewhere = 'can only be read by a provider of another kind and was left out.'

/** The texts of parts. Nothing else has a place in the speech of an assistant, a system or a tool. */
export const textsOf = (parts: readonly Part[], lose: Lose): readonly string[] =>
  parts.flatMap((part, at) => {
    if (part.type === 'text') return [part.text]
    if (part.type === 'refusal') return [part.refusal]
    lose(at, elsewhere)
    return []
  })

/** Parts as they go to the model; what the caller wrote in this language goes as it was. */
export const writeParts = (parts: readonly Part[], quirks: Quirks, lose: Lose): readonly JsonObject[] =>
  parts.flatMap((part, at): readonly JsonObject[] => {
    const why = refusedHere(part, quirks)
    if (why === undefined) return [writePart(part)]
    lose(at, why)
    return []
  })

/** Why a part cannot be sent. */
export function refusedHere(part: Part, { files, audio }: Quirks): string | undefined {
  if (part.type === 'native') return part.dialect === dialect ? undefined : elsewhere
  if (part.type === 'audio') return audio === false ? 'is sound, which is not taken here, and was left out.' : undefined
  if (part.type !== 'file') return undefined
  if (files === false) return 'is a file, which is not taken here, and was left out.'
  return part.url.startsWith('data:') ? undefined : 'is the address of a file; here only its bytes are taken, and it was left out.'
}

function writePart(part: Part): JsonObject {
  const known = originalBody(part)
  if (known) return known
  if (part.type === 'native') return part.body
  if (part.type === 'text') return { type: 'text', text: part.text }
  if (part.type === 'refusal') return { type: 'text', text: part.refusal }
  if (part.type === 'image') return writeImage(part)
  return part.type === 'file' ? writeFile(part) : writeAudio(part)
}

const details: ReadonlySet<string> = new Set(['auto', 'low', 'high'])

const writeImage = ({ url, detail }: ImagePart): JsonObject => ({
  type: 'image_url',
  image_url: { url, ...(detail !== undefined && details.has(detail) && { detail }) },
})

const writeFile = (part: FilePart): JsonObject => ({ type: 'file', file: { file_data: part.url, filename: documentName(part) } })

const writeAudio = ({ data, format }: AudioPart): JsonObject => ({ type: 'input_audio', input_audio: { data, format } })
