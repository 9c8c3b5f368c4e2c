export { maxEventSize, readFrames, type FrameReader } from './read.ts'
export { keepAlive, writeFrames } from './write.ts'
