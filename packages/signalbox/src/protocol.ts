export * from '@signalbox/core/protocol'
