import type { Item, Json, Part, Prompt, Tool } from '@signalbox/dialects/protocol'
import { tokensOfFile, tokensOfImage, tokensOfSound } from './count-blobs.ts'
import { tokensOf } from './count-text.ts'
import { tokensPerBlob } from './estimate.ts'
import { eachField } from './walk-prompt.ts'

// The likely token count of a prompt, for the token counting endpoints. Takes milliseconds; routing uses estimate.ts, which takes a
// microsecond and estimates high.

/** Delimiters around an item and the name of its role. */
const perItem = 4
/** A call has an id and delimiters besides its name and arguments; a result has the id of its call. */
const perCall = 7
/** Encrypted reasoning is base64 and much longer than the reasoning itself. */
const sealedCharactersPerToken = 20
/** Delimiters at the beginning of the response. */
const perPrompt = 3
/** Tokens that introduce the list of tools, and each tool. Prompt templates vary widely: some use hundreds. */
const perToolbox = 12
const perTool = 8
/** Quotes and a colon. */
const perField = 1
/** Tokens that introduce the response schema. */
const perSchema = 16

interface PromptTally {
  readonly texts: string[]
  tokens: number
}

/** Input tokens of a prompt, estimated without the provider's tokenizer. Always a safe integer. */
export function estimateTokens(prompt: Prompt): number {
  const tally: PromptTally = { texts: [], tokens: perPrompt }
  if (prompt.instructions) {
    tally.texts.push(prompt.instructions)
    tally.tokens += perItem
  }
  for (const item of prompt.input) addItem(tally, item)
  addTools(tally, prompt.tools ?? [])
  if (prompt.text?.format?.type === 'json_schema') {
    tally.texts.push(JSON.stringify(prompt.text.format.schema))
    tally.tokens += perSchema
  }
  return tally.tokens + tokensOf(tally.texts)
}

/** Models read a tool as its JSON schema, or in a form of similar length. */
function addTools(tally: PromptTally, tools: readonly Tool[]): void {
  if (tools.length > 0) tally.tokens += perToolbox
  for (const tool of tools) {
    tally.tokens += perTool
    if (tool.type === 'native') addNative(tally, tool.body)
    else tally.texts.push(JSON.stringify({ name: tool.name, description: tool.description, parameters: tool.parameters }))
  }
}

function addItem(tally: PromptTally, item: Item): void {
  tally.tokens += perItem
  if (item.type === 'message') addParts(tally, item.content)
  else if (item.type === 'function_call') {
    tally.tokens += perCall
    tally.texts.push(item.name, item.arguments)
  } else if (item.type === 'function_call_output') {
    tally.tokens += perCall
    if (typeof item.output === 'string') tally.texts.push(item.output)
    else addParts(tally, item.output)
  } else if (item.type === 'reasoning') {
    // Reasoning is sent back as encrypted state or as raw text; summaries are only for display.
    if (item.encrypted_content) tally.tokens += Math.ceil(item.encrypted_content.length / sealedCharactersPerToken)
    else tally.texts.push(...(item.content ?? item.summary))
  } else addNative(tally, item.body)
}

function addParts(tally: PromptTally, parts: readonly Part[]): void {
  for (const part of parts) {
    if (part.type === 'text') tally.texts.push(part.text)
    else if (part.type === 'refusal') tally.texts.push(part.refusal)
    else if (part.type === 'image') tally.tokens += tokensOfImage(part)
    else if (part.type === 'file') tally.tokens += tokensOfFile(part)
    else if (part.type === 'audio') tally.tokens += tokensOfSound(part)
    else addNative(tally, part.body)
  }
}

/** Counts the fields and texts of a native body as JSON. */
const addNative = (tally: PromptTally, body: Json): void =>
  eachField(body, (field, text, isBlob) => {
    tally.tokens += isBlob ? tokensPerBlob : perField
    tally.texts.push(field, text)
  })
