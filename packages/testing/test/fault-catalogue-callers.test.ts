import { chatCaller, messagesCaller } from './callers.ts'
import { describeCatalogue, firstOfEachEnd } from './catalogue.ts'

// The same for other client dialects: one fault of each end, called through the other two inference endpoints, with a provider of the
// client's own dialect and with one of another.

describeCatalogue(['chat', 'gemini'], fault => firstOfEachEnd.has(fault), { caller: chatCaller })
describeCatalogue(['messages', 'bedrock'], fault => firstOfEachEnd.has(fault), { caller: messagesCaller })
