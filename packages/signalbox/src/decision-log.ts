export * from '@signalbox/router/decision-log'
