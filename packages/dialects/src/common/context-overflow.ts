// Servers report a prompt that is too long in words of their own, so these functions look for what the words mean. Every repetition in
// the patterns is bounded, because the text is untrusted.

/** The texts of a provider's error. */
interface ErrorText {
  readonly code?: string | undefined
  readonly type?: string | undefined
  readonly message: string
}

/** Longest part of a message that is read, in characters. */
const maxReadLength = 2000

/** Phrases about output and media, which have limits of their own: `max_tokens`, "output tokens", "image size". */
const otherSizes =
  /\b(?:max(?:imum)?[ _]?)?(?:new|output|completion)[ _]?tokens?\b|\bmax(?:imum)?[ _]tokens?\b|\b(?:image|audio|video|file|document|pdf)s?[ _](?:size|length|duration)\b/g

/** What may be too long, and the measure that says so, at most four words apart: "prompt token count", "request 70123 tokens". */
const promptSizes: readonly RegExp[] = [
  /\b(?:prompts?|inputs?|request|context|conversation)(?: (?!image|audio|video|file|document|name|id\b)\w{1,40}){0,4}? (?:tokens?|length|window)\b/,
  /\b(?:prompts?|inputs?|context|request)(?: (?:payload|body|entity))? size\b/,
  /\b(?:prompts?|inputs?|context|conversation)(?: (?:is|was|are))? too (?:long|large|big)\b/,
  /\b(?:tokens?|length) (?:of|in|from)(?: \w{1,40}){0,2} (?:prompts?|inputs?|request|context|conversation|messages)\b/,
]

/** Above an upper limit. "must be greater than 0" states a lower one. */
const aboveLimit =
  /\bexceed(?:s|ed|ing)?\b|\btoo (?:long|large|big|many)\b|\b(?<!must be |should be )(?:longer|larger|greater|bigger|more) than\b|\b(?:must|should) be (?:<|\[1 |(?:less|smaller|shorter|no more|not more) than\b|at most\b)|\b(?:max(?:imum)?|limit)\b.{0,80}\bbut\b|\b\d{1,12}(?: tokens)? > \d/

/** Limits per time, which pass when the client waits. */
const perTime = /\b(?:per|a|each) (?:second|min|minute|hour|day|month)\b|\brate limit|\bquota\b|\b[tr]p[mdh]\b/

const words = (text: string): string =>
  text
    .slice(0, maxReadLength)
    .toLowerCase()
    .replace(/[^\w<>[]+/g, ' ')
    .replace(otherSizes, ' ')

/** Whether a text says that the prompt, input, request or context has more tokens, or is longer, than the model takes. */
function saysTooLong(text: string): boolean {
  const plain = words(text)
  return aboveLimit.test(plain) && !perTime.test(plain) && promptSizes.some(each => each.test(plain))
}

/** Whether an error says by its code, type or message that the prompt is longer than the model takes. */
export const isContextOverflow = ({ code, type, message }: ErrorText): boolean =>
  [code, type].some(name => name !== undefined && saysTooLong(separated(name))) || saysTooLong(message)

/** `ContextWindowExceeded_error` as words. */
const separated = (name: string): string => name.replace(/([a-z])(?=[A-Z])/g, '$1 ').replaceAll('_', ' ')

/**
 * Whether a rate limit can never let the request pass, because the request alone is larger than the limit: "Limit 30000, Requested 31538".
 * "Limit 30000, Used 29500, Requested 5000" passes later. A limit of 0 allows no request at all, so it says nothing about the size.
 */
export function isLargerThanRateLimit({ message }: Pick<ErrorText, 'message'>): boolean {
  const text = message.slice(0, maxReadLength)
  const [, limit, requested] = tokenLimit.exec(text) ?? []
  if (limit === undefined || requested === undefined) return /^request too large for\b/i.test(text)
  return numberOf(limit) > 0 && numberOf(requested) > numberOf(limit)
}

/** As OpenAI and Groq write it: "on tokens per min (TPM): Limit 30000, Used 0, Requested 31538". */
const tokenLimit = /\(TP[MDH]\): Limit (\d[\d,]{0,15}), (?:Used \d[\d,]{0,15}, )?Requested (\d[\d,]{0,15})/i

const numberOf = (digits: string): number => Number(digits.replaceAll(',', ''))
