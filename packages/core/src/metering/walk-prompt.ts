import { eachUnknownField } from '@signalbox/dialects/clients'
import type { AudioPart, FilePart, Item, Part, Prompt, Tool } from '@signalbox/dialects/protocol'
import { isObject, type Json } from '@signalbox/dialects/protocol'

/** Receives the pieces of a prompt in order. */
export interface PromptVisitor {
  text(text: string): void
  /** Encrypted reasoning: far more characters than tokens. */
  sealed(text: string): void
  /** An image, or a field that contains bytes: its name. */
  blob(field: string): void
  /** A file or audio that the model reads entirely, so that its size counts. */
  media(part: FilePart | AudioPart): void
}

/** Visits every piece of a prompt that a model reads. */
export function walkPrompt(prompt: Prompt, visitor: PromptVisitor): void {
  if (prompt.instructions) visitor.text(prompt.instructions)
  for (const item of prompt.input) walkItem(item, visitor)
  if (prompt.tools) for (const tool of prompt.tools) visitor.text(textOfTool(tool))
  // Fields that are passed through unparsed are billed too.
  if (prompt.extensions) visitor.text(JSON.stringify(prompt.extensions))
  if (prompt.native) visitor.text(JSON.stringify(prompt.native.body))
  if (prompt.text?.format?.type === 'json_schema') {
    const { name, description, schema } = prompt.text.format
    visitor.text(JSON.stringify({ name, description, schema }))
  }
}

/**
 * Visits what a provider of the client's dialect gets beside the pieces of the prompt, such as examples of a tool: fields that no dialect
 * models. For bounds, since what is made of them is up to the provider.
 */
export const walkUnknownFields = (prompt: Prompt, visitor: PromptVisitor): void =>
  eachUnknownField(prompt, ({ name, value }) => {
    visitor.text(name)
    if (value !== undefined) walkNative(value, visitor)
  })

/** The text of a tool, the same for every client dialect. */
const textOfTool = (tool: Tool): string =>
  JSON.stringify(
    tool.type === 'native'
      ? tool.body
      : { name: tool.name, description: tool.description, parameters: tool.parameters, custom: tool.custom },
  )

function walkItem(item: Item, visitor: PromptVisitor): void {
  if (item.type === 'message') walkParts(item.content, visitor)
  else if (item.type === 'function_call') {
    visitor.text(item.name)
    visitor.text(item.arguments)
  } else if (item.type === 'native') walkNative(item.body, visitor)
  else if (item.type === 'reasoning') {
    if (item.encrypted_content) visitor.sealed(item.encrypted_content)
    for (const text of item.summary) visitor.text(text)
    for (const text of item.content ?? []) visitor.text(text)
  } else if (typeof item.output === 'string') visitor.text(item.output)
  else walkParts(item.output, visitor)
}

function walkParts(parts: readonly Part[], visitor: PromptVisitor): void {
  for (const part of parts) {
    if (part.type === 'text') visitor.text(part.text)
    else if (part.type === 'refusal') visitor.text(part.refusal)
    else if (part.type === 'image') visitor.blob('image')
    else if (part.type === 'native') walkNative(part.body, visitor)
    else {
      visitor.media(part)
      if (part.type === 'file') walkAbout(part, visitor)
    }
  }
}

/** The name and the context of a file, which the model reads besides its content. */
function walkAbout({ filename, context }: FilePart, visitor: PromptVisitor): void {
  if (filename !== undefined) visitor.text(filename)
  if (context !== undefined) visitor.text(context)
}

/** Quotes, a colon and a comma around a value. */
const punctuation = '"":,'

const walkNative = (body: Json, visitor: PromptVisitor): void =>
  eachField(body, (field, text, isBlob) => {
    visitor.text(field)
    visitor.text(punctuation)
    visitor.text(text)
    if (isBlob) visitor.blob(field)
  })

/**
 * Visits every value inside an unmodelled one: its field, its text if it is a string, and whether it contains bytes instead.
 * Iterative, because the client decides how deep its JSON is nested.
 */
export function eachField(body: Json, see: (field: string, text: string, isBlob: boolean) => void): void {
  const left: (readonly [field: string, value: Json | undefined])[] = [['', body]]
  for (let next = left.pop(); next; next = left.pop()) {
    const [field, value] = next
    const blob = typeof value === 'string' && isBlob(field, value)
    see(field, typeof value === 'string' && !blob ? value : '', blob)
    if (Array.isArray(value)) for (const each of value as readonly Json[]) left.push(['', each])
    else if (isObject(value)) for (const each of Object.entries(value)) left.push(each)
  }
}

/** Fields that contain bytes, or refer to something that the provider fetches. */
const blobField = /^(?:data|.+_data|image_url|file_url|file_id)$/
const dataUrl = /^data:[\w.+-]{1,100}\/[\w.+-]{1,100}[;,]/

const isBlob = (field: string, value: string): boolean => !value.startsWith('data:text/') && (blobField.test(field) || dataUrl.test(value))
