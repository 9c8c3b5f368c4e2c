import { clientDialects, providerDialects } from '@signalbox/dialects'
import { features, outputFeatures } from '@signalbox/dialects/common'
import { row } from './markdown-row.ts'

/** Explanations of mappings and warnings, by feature. */
const requestNotes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    midConversationSystem: 'Where there is no such role it stays in its place as marked text of the user.',
    imageUrl: 'Where images or files are taken as bytes only and `media` is set, the gateway reads the address and sends the bytes.',
    cachePoint:
      'On parts of a conversation; where tools and results take no mark, a warning says so. Of more than four, the last four are sent. Hosts of Chat Completions that document marks get them on texts (OpenRouter, Alibaba). A caller of the same dialect keeps its own.',
    customTools:
      'Where tools take JSON, a function with one field `input`; its calls come back as calls of the custom tool. Those of a caller of the same dialect go as they came.',
    toolGrammar: 'By words, where it cannot be enforced.',
    toolChoice:
      'Where a choice among some of the tools (`allowed_tools`) is not known, the others are left out; most hosts of Chat Completions do not know it.',
    temperature: 'Clamped to 1, with a warning, where the scale ends there.',
    jsonSchema: 'Where a schema cannot be enforced, a forced tool or words take its place, with a warning.',
    jsonObject: 'By words, where there is no such mode.',
    reasoningEffort: 'A level that an offer does not know moves to the next lower one, with a warning.',
    reasoningSummary: 'Where only the raw reasoning is sent, it is returned as the summary.',
  }),
)

/** The same for responses. */
const answerNotes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    reasoning: 'Of a summary and raw reasoning, a dialect with one field for both gets one.',
    customCall: 'Where calls hold JSON, the text is the field `input` of an object.',
    image: 'In `images` of the message; where an answer holds nothing but text, as Markdown with a data URL.',
    clientTool: 'Where it is dropped, the answer ends with a sentence that says so.',
    hostedTool: 'Every dialect keeps those of its own; the row is about those of the Responses API.',
    other: 'Types of a provider’s own, and sound. A client of the provider’s own dialect gets them as they came.',
  }),
)

const marked = (id: string, notes: ReadonlyMap<string, string>): string => (notes.has(id) ? ` [${[...notes.keys()].indexOf(id) + 1}]` : '')
const listed = (notes: ReadonlyMap<string, string>): string => [...notes.values()].map((note, at) => `${at + 1}. ${note}`).join('\n')
const columns = Object.values(providerDialects)

/** The text of docs/fidelity.md. */
export const fidelityPage = `# Fidelity

What becomes of a request that is sent to a provider of another dialect, and of the answer that comes back. Written from \`fidelity.ts\`
and \`output-fidelity.ts\` of each folder of \`packages/dialects/src\`; a test holds every codec to them.

**kept**: the same field there. **mapped**: said in other words, and nothing is lost. **approximated**: said as well as that
dialect can, with a warning. **dropped**: left out, with a warning. **refused**: content of the conversation that this dialect cannot
say; it is never left out, such an offer is not asked, and where no other is left the answer is 400 \`capability_mismatch\`, whose
\`param\` and message name the part. Nothing that is accepted is lost in silence: warnings come
in \`warnings\` of the answer and as codes in \`X-Warnings\`, and \`gateway.routing.strict: true\` turns them into a 400. A request to a
provider of the caller's own dialect goes out as it came, unknown fields included; elsewhere an unknown field is named in a warning.

## Requests

The table speaks of an offer that says nothing special of itself. Facts of a provider or a model (its quirks) can take more away, with a
warning each; an offer that is known not to take images, files or audio is not asked about them at all. Images, files and audio stand in
user messages and in results of tools; in a message of the assistant they go to an offer of the caller’s own dialect alone. An
image that a model made (\`image_generation_call\`, \`images\` of a chat message) goes elsewhere as an image of the user; without its bytes, it is
refused there. Gemini gets an image of its own in its own turn, with the signature that it came with.
What else an earlier answer held goes with the conversation as well. Calls that the client carried out (shell, patch, computer, a tool search
with \`execution: "client"\`) and their results are function calls elsewhere, and a summary in plain text (a \`compaction\` block of the Messages API) is a text of the assistant.
What only the dialect of the answer has, such as a search, code that a provider ran, or an unknown type, stays out of a request in
another dialect: one warning, \`earlier_output_dropped\`, names it, and an offer of that dialect goes first. A \`compaction\` that only its
vendor can read is refused elsewhere, since the conversation would be another one without it.
Blocks of the Messages API that hold nothing but text (\`tool_reference\`, \`search_result\`, a \`document\` of text blocks) are sent as text elsewhere,
with a warning for each type. What a client says in its turn, such as the answer to an MCP approval, is no record, whatever its id: only a provider
of the Responses API gets it, and without one the answer is 400 \`input_requires_responses_endpoint\`.
A field that a client leaves out has the default of the client's dialect: a tool of Chat Completions, Messages or the AI SDK is sent with
\`strict: false\` to the Responses API, which would make its schema strict. Fields that Responses and Chat Completions of one vendor share, such as
\`prompt_cache_options\` and cache breakpoints of OpenAI, cross between them. OpenAI's models that tell commentary and answers apart get a
\`phase\` for assistant messages of other dialects, derived from the conversation
(text before a call is commentary, the last text of a turn the final answer). A tool that comes twice, as one that was deferred and then found, is sent once, with its last
definition. Items of the Responses API that are not listed here go to its providers as they came; only an item of an answer that came
without a \`status\` reaches the client as \`completed\`.
Formats of images and files that a dialect does not know are refused in the same way, and so is a request in which nothing is said
(400 \`invalid_parameter_value\`).
\`gateway.fidelity(request, model)\` and the \`fidelity\` of \`gateway.plan(request, caller)\` answer for a real request before the call.

${row(['', ...columns.map(({ name }) => name)])}
${row(['---', ...columns.map(() => '---')])}
${[...features].map(([id, feature]) => row([feature.name + marked(id, requestNotes), ...columns.map(({ fidelity }) => fidelity?.[id] ?? '')])).join('\n')}

${listed(requestNotes)}

Silent, since nothing of the answer depends on them: \`metadata\` (told back by us, and kept in the request log), \`max_tool_calls\`
(it caps hosted tools), annotations on earlier answers, and the detail of an image where there is no such word. Reasoning of earlier
turns that is not given back is named in a warning of its own, \`reasoning_state_dropped\`, once a request: a state that another provider or
account made, one that no longer opens, any that the model takes none back of (DeepSeek R1), and reasoning text without a state where
it is not accepted, such as that of another vendor’s model. Gemini accepts no reasoning text, not even its own; there it is left out
in silence.

## Answers

The columns are the dialects of clients. What is dropped gives the warning \`output_dropped\` with the type of the item, part or field as its
provider names it: in \`warnings\` of the answer or of the last event of a stream, in \`X-Warnings\` of whole answers, and in the request log.
An answer of which nothing else is left, or on which the client has to act, ends with a sentence that says so.

${row(['', ...Object.keys(clientDialects)])}
${row(['---', ...Object.keys(clientDialects).map(() => '---')])}
${[...outputFeatures].map(([id, feature]) => row([feature.name + marked(id, answerNotes), ...Object.values(clientDialects).map(({ outputFidelity }) => outputFidelity?.[id] ?? '')])).join('\n')}

${listed(answerNotes)}

Code that Gemini ran, its result, and the queries of its searches are dropped, although there are items for such calls
(\`code_interpreter_call\`, \`web_search_call\`, \`server_tool_use\`). Those name a container, or hold sealed results, that only their vendor has
made; a client sends them back with its next turn, and that vendor would refuse those of another. The sources of a search are citations, and
what the code found is in the text of the answer.

Silent: log probabilities, where the client’s dialect cannot ask for them, and a provider’s own account of the call, such as timings and
filter results.
`
