// Answers of providers in each built-in dialect: what scripted and chaos providers send.

export type { RecordedDialect } from '../recorded.ts'
export type { ReplyContext, ScriptedCall } from '../scripted-provider.ts'
export {
  type AnswerContent,
  type AnswerError,
  type AnswerRequest,
  type AnswerToolCall,
  type AnswerUsage,
  type AnswerWriter,
  defaultText,
  sse,
  type WrittenAnswer,
} from './answer.ts'
export { answerWriters, type CannedAnswerName, cannedAnswers } from './writers.ts'
