export { type FrameReader, maxEventSize, readFrames } from './read.ts'
export { keepAlive, writeFrames } from './write.ts'
