export * from '@signalbox/core/runtime'
