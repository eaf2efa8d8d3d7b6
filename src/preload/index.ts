import { contextBridge } from 'electron';
void contextBridge;
